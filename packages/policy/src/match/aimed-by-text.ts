import { type ArgumentOrigin, argumentWords } from '@actlog/protocol';

const shell: ReadonlySet<string> = new Set(argumentWords.shell);
const notTargets: ReadonlySet<string> = new Set([...argumentWords.content, ...argumentWords.place]);
const places: ReadonlySet<string> = new Set(argumentWords.place);
const part = /\.(host|query)$/;

/** Words of the last name of a path, in any style, in lower case. */
function wordsOf(path: string): string[] {
  return path
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** `true` if an argument determines what an action is aimed at, such as a recipient, an amount or an id; by its path. */
export function isTarget(path: string): boolean {
  const words = wordsOf(path);
  const last = words.at(-1) ?? '';
  if ((last === 'name' || last === 'number') && places.has(words.at(-2) ?? '')) return false;
  return !notTargets.has(last);
}

function isShell(path: string): boolean {
  return shell.has(wordsOf(path).at(-1) ?? '');
}

/**
 * `true` if an action is aimed by text that a tool returned, or by a source that is no longer known, and nothing of it
 * came from the user or the system prompt. A command counts as aimed if it was copied from a text, or names a host from
 * one.
 */
export function isAimedByText(
  origins: ReadonlyMap<string, Readonly<ArgumentOrigin> | { from: string; as: string }>,
): boolean {
  let isAimed = false;
  for (const [path, { from, as }] of origins) {
    const named = part.exec(path)?.[1];
    if (named !== undefined) {
      if (named === 'host' && from === 'tool' && isShell(path.slice(0, -'.host'.length))) isAimed = true;
      continue;
    }
    if (from === 'user' || from === 'system') return false;
    const isText = from === 'tool' && as === 'text';
    if (isText && isShell(path)) isAimed = true;
    if ((isText || from === 'unknown') && isTarget(path)) isAimed = true;
  }
  return isAimed;
}
