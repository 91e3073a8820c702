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
 * {@link atLeast} for what is counted down or up to, so that `Infinity` is no number for it.
 *
 * @throws RangeError when it is something else
 */
export function finiteAtLeast(
  minimum: number,
  field: string,
  value: number | undefined,
  byDefault: number,
): number {
  const checked = atLeast(minimum, field, value, byDefault);
  if (checked !== Number.POSITIVE_INFINITY) return checked;
  throw new RangeError(
    `${field} must be finite, and is Infinity: give a number, or leave it out for the default.`,
  );
}

/** The longest wait that a timer can hold: beyond it, `setTimeout` fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * {@link finiteAtLeast} for the milliseconds of a timer, cut to the longest that one can hold.
 *
 * @throws RangeError when it is something else
 */
export function timerMs(
  minimum: number,
  field: string,
  value: number | undefined,
  byDefault: number,
): number {
  return Math.min(longestTimerMs, finiteAtLeast(minimum, field, value, byDefault));
}

/**
 * The milliseconds of a wait; below 0 there is none.
 *
 * @throws RangeError when it is no number, with which a wait would end at once
 */
export function waitMs(field: string, value: number): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new RangeError(
    `${field} must be a number of milliseconds, and is ${String(value)} of type ${typeof value}.`,
  );
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
  const shown = typeof value === 'string' ? JSON.stringify(value) : `of type ${typeName(value)}`;
  throw new TypeError(`${field} is ${shown}: use one of ${values.join(', ')}.`);
}

/**
 * Refuses an option that is of another type than it must be; one that was not given is none.
 *
 * @param wayOut - what to do instead
 * @throws TypeError which does not show the value: it may be a secret at the wrong place
 */
export function checkType(
  type: 'string' | 'boolean' | 'function' | 'object',
  field: string,
  value: unknown,
  wayOut = 'leave it out for the default',
): void {
  if (value === undefined || typeName(value) === type) return;
  throw new TypeError(`${field} must be of type ${type}, and is of type ${typeName(value)}: ${wayOut}.`);
}

/** What `typeof` says, but for what only it takes for an object. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
