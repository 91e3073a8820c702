/**
 * Applies a JSON Merge Patch (RFC 7396): objects are merged, null removes a member, anything else replaces.
 *
 * @param target - what is changed; it is left as it is
 * @param patch - bounded in depth by the caller (`limits.maxJsonDepth` on the wire), for this recurses
 * @returns what comes of it
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
