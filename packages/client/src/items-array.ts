import type { Answer } from './answer.ts';

/** Names under which services commonly put the items of a page; they win over other arrays. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/**
 * Finds the items of a page. The specification leaves the array's name open, so it is the page's one array, or, where
 * there are several, the one with a known name.
 *
 * @param resourceName The plural of the resource, in the path's spelling, such as `pending-actions`.
 * @throws ResponseShapeError When there is none, or several and none with a known name.
 */
export function itemsOf(
  body: Readonly<Record<string, unknown>>,
  resourceName: string,
  answer: Answer,
): unknown[] {
  const arrays = Object.keys(body).filter((name) => Array.isArray(body[name]));
  const camelCase = resourceName.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
  const snakeCase = resourceName.replaceAll('-', '_');
  const known = [...commonNames, resourceName, camelCase, snakeCase].find((name) => arrays.includes(name));
  const name = arrays.length === 1 ? arrays[0] : known;
  if (name !== undefined) return body[name] as unknown[];
  throw answer.shapeError(
    arrays.length === 0
      ? 'a page that holds no array of items'
      : `a page with ${arrays.length} arrays, none named ${commonNames.join(', ')} or ${camelCase}`,
  );
}
