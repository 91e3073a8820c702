/** Returns the largest group of entries within a time span; the entries are given in time order. */
export function largestBurst<T extends { readonly timestampMs: number }>(
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
