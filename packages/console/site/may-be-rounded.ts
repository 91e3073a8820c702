/**
 * `true` if a JSON value contains an integer so large that parsing it may have changed its last digits, so that it may
 * differ from the one that was sent.
 */
export function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);
}
