/**
 * Deletes the oldest entries of a map. Call it rarely and for many entries at once, because a map's iteration has to
 * skip all entries deleted before its first one.
 *
 * @param kept - number of entries that stay
 * @param onDropped - called with each deleted value
 */
export function dropOldest<Value>(
  map: Map<string, Value>,
  kept: number,
  onDropped?: (value: Value) => void,
): void {
  for (const [key, value] of map) {
    if (map.size <= kept) return;
    map.delete(key);
    onDropped?.(value);
  }
}
