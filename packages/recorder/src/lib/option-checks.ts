/**
 * Returns a number of at least `minimum`, or the default if it is undefined.
 *
 * @throws RangeError when it is anything else
 */
export function atLeast(
  minimum: number,
  field: string,
  value: number | undefined,
  defaultValue: number,
): number {
  if (value === undefined) return defaultValue;
  if (typeof value === 'number' && value >= minimum) return value;
  throw new RangeError(`${field} must be a number of at least ${minimum}, got ${String(value)}.`);
}

/**
 * Does the same as {@link atLeast} for limits that must not be `Infinity`.
 *
 * @throws RangeError when it is anything else
 */
export function finiteAtLeast(
  minimum: number,
  field: string,
  value: number | undefined,
  defaultValue: number,
): number {
  const checked = atLeast(minimum, field, value, defaultValue);
  if (checked !== Number.POSITIVE_INFINITY) return checked;
  throw new RangeError(`${field} must be finite, got Infinity: pass a number, or omit it for the default.`);
}

/** Longest delay of a timer. With a longer one, `setTimeout` fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Does the same as {@link finiteAtLeast} for the milliseconds of a timer, limited to the longest delay.
 *
 * @throws RangeError when it is anything else
 */
export function timerMs(
  minimum: number,
  field: string,
  value: number | undefined,
  defaultValue: number,
): number {
  return Math.min(maxTimerMs, finiteAtLeast(minimum, field, value, defaultValue));
}

/**
 * Returns the milliseconds of a wait; a negative number means no wait.
 *
 * @throws RangeError when it is not a number, with which a wait would end at once
 */
export function waitMs(field: string, value: number): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new RangeError(
    `${field} must be a number of milliseconds, got ${String(value)} of type ${typeof value}.`,
  );
}

/**
 * Returns one of the allowed values of an option, or undefined if it is undefined.
 *
 * @throws TypeError when it is another value
 */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  field: string,
  value: string | undefined,
): Value | undefined {
  if (value === undefined) return undefined;
  const found = values.find((known) => known === value);
  if (found) return found;
  const shown = typeof value === 'string' ? JSON.stringify(value) : `a value of type ${typeName(value)}`;
  throw new TypeError(`${field} must be one of ${values.join(', ')}, got ${shown}.`);
}

/**
 * Rejects an option of the wrong type; undefined is allowed.
 *
 * @param fix - advice for the error message
 * @throws TypeError without the value, which may be a misplaced secret
 */
export function checkType(
  type: 'string' | 'boolean' | 'function' | 'object',
  field: string,
  value: unknown,
  fix = 'omit it for the default',
): void {
  if (value === undefined || typeName(value) === type) return;
  throw new TypeError(`${field} must be of type ${type}, got ${typeName(value)}: ${fix}.`);
}

/** Returns the result of `typeof`, but distinguishes null and arrays from objects. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Reads an environment variable like the client: trimmed, because files with Windows line endings leave white space.
 * Returns undefined if it is missing or empty.
 */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

/**
 * Reads a boolean from an environment variable; undefined if it is missing or empty.
 *
 * @throws TypeError when it is neither `true`, `1`, `false` nor `0`
 */
export function booleanVariable(name: string): boolean | undefined {
  const text = environmentVariable(name)?.toLowerCase();
  if (text === undefined) return undefined;
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new TypeError(`${name} must be true or false, got "${text}".`);
}
