import { href } from '../route.ts';

/** The way from the tools of a session to a policy about one of them. */
export function ToolPolicies({ tools = [] }: { tools: readonly string[] | undefined }) {
  // In the form of a policy these would mean other tools, or more than one.
  const named = tools.filter((tool) => !/[*,\r\n]|^\s|\s$/.test(tool));
  if (named.length === 0) return null;
  return (
    <p class="links">
      Make a policy for:{' '}
      {named.map((tool) => (
        <a key={tool} href={href(['policies', 'new'], { tool })} aria-label={`Make a policy for ${tool}`}>
          {tool}
        </a>
      ))}
    </p>
  );
}
