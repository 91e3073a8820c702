/**
 * A number of at least `minimum`, or the default where none was given.
 *
 * @throws RangeError when it is something else
 */
export function atLeast(
  minimum: number,
  field: string,
  value: number | undefined,
  byDefault: number,
): number {
  if (value === undefined) return byDefault;
  if (typeof value === 'number' && value >= minimum) return value;
  throw new RangeError(`${field} must be a number of at least ${minimum}, and is ${String(value)}.`);
}

/**
 * One of the values that an option can have; undefined where none was given.
 *
 * @throws TypeError when it is another
 */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  field: string,
  value: string | undefined,
): Value | undefined {
  if (value === undefined) return undefined;
  const found = values.find((known) => known === value);
  if (found) return found;
  throw new TypeError(`${field} is ${JSON.stringify(value)}: use one of ${values.join(', ')}.`);
}
