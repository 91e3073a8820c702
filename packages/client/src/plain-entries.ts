import { InvalidArgumentError } from './errors/actlog-error.ts';

/**
 * Returns the entries of a plain object. `Headers`, `Map` and `URLSearchParams` have no own properties, so they are
 * rejected rather than silently ignored.
 *
 * @throws InvalidArgumentError When the value is not a plain object.
 */
export function plainEntries<Value>(
  field: string,
  values: Readonly<Record<string, Value>> | undefined,
): [string, Value][] {
  const record = values ?? {};
  if (typeof record === 'object' && !(Symbol.iterator in record)) return Object.entries(record);
  throw new InvalidArgumentError(`${field} must be a plain object: convert it with Object.fromEntries.`);
}
