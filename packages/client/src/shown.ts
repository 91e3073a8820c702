/** A value that cannot be used, as an error shows it: `'10'` is told from 10, and nothing of an object is shown. */
export function shown(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}
