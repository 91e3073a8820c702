/**
 * Formats an invalid value for an error message. Quotes strings, so that `'10'` differs from 10, and shows only the
 * type of an object.
 */
export function describeValue(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}
