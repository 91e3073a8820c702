/**
 * Whether a JSON value holds a whole number so large that reading it may have changed its last digits, so that it may
 * be another one than was sent.
 */
export function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);
}
