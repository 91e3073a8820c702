/** Formats a position in a condition as ` (line 1, column 15)`; returns an empty string if it is unknown. */
export function positionIn(text: string, start: number | undefined): string {
  if (start === undefined) return '';
  const before = text.slice(0, start).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) as string).length + 1})`;
}
