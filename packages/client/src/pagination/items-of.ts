import type { ApiResponse } from '../response/api-response.ts';

/** Common names for the items of a page. They take precedence over other arrays. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/**
 * Finds the items of a page. The specification does not fix the array's name, so it is the page's only array or, if
 * there are several, the one with a known name.
 *
 * @param resourceName Plural of the resource as spelled in the path, such as `pending-actions`.
 * @param itemsKey Name that the caller gave, under which the page has no array.
 * @throws ResponseShapeError When there is no array, or several but none with a known name, or the caller gave a name.
 */
export function itemsOf(
  body: Readonly<Record<string, unknown>>,
  resourceName: string,
  response: ApiResponse,
  itemsKey?: string,
): unknown[] {
  if (itemsKey !== undefined) throw response.shapeError(`a page without an array ${itemsKey} (itemsKey)`);
  const arrays = Object.keys(body).filter((name) => Array.isArray(body[name]));
  const camelCase = resourceName.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
  const snakeCase = resourceName.replaceAll('-', '_');
  const known = [...commonNames, resourceName, camelCase, snakeCase].find((name) => arrays.includes(name));
  const name = arrays.length === 1 ? arrays[0] : known;
  if (name !== undefined) return body[name] as unknown[];
  throw response.shapeError(
    arrays.length === 0
      ? 'a page without an array of items'
      : `a page with ${arrays.length} arrays, none named ${commonNames.join(', ')} or ${camelCase}`,
  );
}
