/** Returns the largest number of entries, given in time order, within a time span. */
export function densest<T extends { readonly timestampMs: number }>(
  entries: readonly T[],
  spanMs: number,
): readonly T[] {
  let most: readonly T[] = [];
  let from = 0;
  for (const [at, { timestampMs }] of entries.entries()) {
    while (timestampMs - (entries[from] as T).timestampMs > spanMs) from += 1;
    if (at + 1 - from > most.length) most = entries.slice(from, at + 1);
  }
  return most;
}
