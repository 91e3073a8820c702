/** Sets a map entry and makes it the newest. Deletes the oldest entry when the map already has `maxSize` others. */
export function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, maxSize: number): void {
  map.delete(key);
  if (map.size >= maxSize) map.delete(map.keys().next().value as Key);
  map.set(key, value);
}
