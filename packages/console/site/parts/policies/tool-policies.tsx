import { href } from '../../route.ts';

/** Links from the tools of a session to a new policy for one of them. */
export function ToolPolicies({ tools = [] }: { tools: readonly string[] | undefined }) {
  // In the form of a policy these names would match other tools or several.
  const named = tools.filter((tool) => !/[*,\r\n]|^\s|\s$/.test(tool));
  if (named.length === 0) return null;
  return (
    <p class="links">
      Create a policy for:{' '}
      {named.map((tool) => (
        <a key={tool} href={href(['policies', 'new'], { tool })} aria-label={`Create a policy for ${tool}`}>
          {tool}
        </a>
      ))}
    </p>
  );
}
