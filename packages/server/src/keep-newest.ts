/** Puts an entry into a map as its newest. Where there are `most` others already, the oldest makes room for it. */
export function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value as Key);
  map.set(key, value);
}
