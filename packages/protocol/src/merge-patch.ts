/**
 * Applies a JSON Merge Patch (RFC 7396): objects are merged, null removes a member, any other value replaces.
 *
 * @param target - value to patch; it is not modified
 * @param patch - patch whose depth the caller must limit (`limits.maxJsonDepth` on the wire): this function recurses
 * @returns the patched value
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
