/** Returns a number with its noun, such as `1 event` or `12 events`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
