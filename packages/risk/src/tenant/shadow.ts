import { nameParts, words } from '../taxonomy/tokens.ts';
import { readToolName } from '../taxonomy/tool-profile.ts';

/** Whether what stands before the last dot names a thing that the tool works on: "calendar.events" of ".list". */
function isThing(toolName: string, namespace: string): boolean {
  return toolName[namespace.length] === '.' && readToolName(namespace).noun !== undefined;
}

/**
 * Whether a new tool has the own name of a known one, but comes from another server. Names of one word, such as
 * "search", are everybody's, and "drive.list_items" is no stand-in for "calendar.list_items".
 */
export function shadows(name: string, known: string): boolean {
  const [mine, theirs] = [nameParts(name), nameParts(known)];
  if (mine.base !== theirs.base || mine.namespace === theirs.namespace) return false;
  return words(mine.base).length > 1 && !isThing(name, mine.namespace);
}
