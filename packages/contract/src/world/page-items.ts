import type { EndpointName } from '@actlog/protocol';
import { type ApiResponse, describeResponse, isObject } from '../http/api-response.ts';
import { skip } from '../outcome.ts';

/** Common names for the items of a page. */
const commonNames = ['items', 'data', 'results', 'records', 'entries'];

/** An array of a page, by its name; `data.items` for an array within an object of the page. */
type NamedArray = readonly [name: string, array: readonly unknown[]];

function arraysOf(json: unknown): NamedArray[] {
  if (!isObject(json)) return [];
  const direct = Object.entries(json).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  if (direct.length > 0) return direct;
  return Object.entries(json).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value)
          .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
          .map(([inner, array]): NamedArray => [`${name}.${inner}`, array])
      : [],
  );
}

/** `true` if a page has an array that can have its items. */
export function hasArray({ json }: ApiResponse): boolean {
  return arraysOf(json).length > 0;
}

/**
 * Returns the array with a page's items. The specification leaves its name open, so it is the only array of the page
 * or, among several, the one with a common name, or the only one with objects; undefined if it is ambiguous.
 */
export function namedItems(page: ApiResponse, endpoint: EndpointName): NamedArray | undefined {
  const all = arraysOf(page.json);
  if (all.length <= 1) return all[0];
  const plural = endpoint === 'agents.sessions' ? 'sessions' : (endpoint.split('.').at(-2) ?? '');
  const known = [...commonNames, plural];
  const named = known
    .map((name) => all.find(([full]) => full.split('.').at(-1) === name))
    .find((one) => one !== undefined);
  if (named) return named;
  const withObjects = all.filter(([, array]) => array.some(isObject));
  if (withObjects.length === 1) return withObjects[0];
  return all.every(([, array]) => array.length === 0) ? all[0] : undefined;
}

/** Returns the items of a page; skips the check if they are ambiguous. */
export function itemsOf(page: ApiResponse, endpoint: EndpointName): readonly unknown[] {
  const [, items] = namedItems(page, endpoint) ?? [];
  return items ?? skip(`no array of items can be identified (LST-06): ${describeResponse(page)}`);
}
