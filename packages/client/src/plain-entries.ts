import { InvalidArgumentError } from './errors/invalid-argument-error.ts';

/**
 * The names and values of an object. What a `Headers`, a `Map` or `URLSearchParams` holds is no property of it, and
 * would be left out without a word.
 *
 * @throws InvalidArgumentError When it is no plain object.
 */
export function plainEntries<Value>(
  field: string,
  values: Readonly<Record<string, Value>> | undefined,
): [string, Value][] {
  const record = values ?? {};
  if (typeof record === 'object' && !(Symbol.iterator in record)) return Object.entries(record);
  throw new InvalidArgumentError(`${field} must be a plain object: Object.fromEntries makes one.`);
}
