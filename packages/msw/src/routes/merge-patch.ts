/** Applies a JSON Merge Patch (RFC 7396). Bodies are bounded in depth, and so is the recursion. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const merged: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], change);
  }
  return merged;
}
