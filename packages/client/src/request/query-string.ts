import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';
import { plainEntries } from '../plain-entries.ts';

/** Value of a query parameter. `undefined` and `null` omit it; an array repeats it. */
export type QueryValue = string | number | boolean | Date | null | undefined | readonly (string | number)[];

/** Query parameters by name. */
export type Query = Readonly<Record<string, QueryValue>>;

/**
 * Serializes query parameters, including the question mark. Returns an empty string if there are none.
 *
 * @throws InvalidArgumentError When a value is an object, a number that is not finite, or an invalid date.
 */
export function queryString(query: Query | undefined): string {
  let text = '';
  for (const [name, value] of plainEntries('query', query)) {
    if (value === undefined || value === null) continue;
    for (const single of Array.isArray(value) ? value : [value]) {
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(asText(name, single))}`;
    }
  }
  return text;
}

function asText(name: string, value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'string' && value.isWellFormed()) return value;
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  throw new InvalidArgumentError(
    `query parameter ${name} must be a string, a finite number, a boolean or a valid Date.`,
  );
}
