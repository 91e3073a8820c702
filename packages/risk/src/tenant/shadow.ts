import { nameParts, words } from '../taxonomy/tokens.ts';
import { readToolName } from '../taxonomy/tool-profile.ts';

/**
 * `true` if the part before the last dot names the tool's object: "calendar.events" in
 * "calendar.events.list".
 */
function isThing(toolName: string, namespace: string): boolean {
  return toolName[namespace.length] === '.' && readToolName(namespace).noun !== undefined;
}

/**
 * `true` if a new tool has the same name as a known one but comes from another server. Single words such as "search" do
 * not count, and "drive.list_items" does not impersonate "calendar.list_items".
 */
export function shadows(name: string, known: string): boolean {
  const [mine, theirs] = [nameParts(name), nameParts(known)];
  if (mine.base !== theirs.base || mine.namespace === theirs.namespace) return false;
  return words(mine.base).length > 1 && !isThing(name, mine.namespace);
}
