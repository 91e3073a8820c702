/** `true` if two JSON values are equal, ignoring the order of members. Bodies are limited in depth. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return left === right; // JSON does not distinguish 0 and -0
  }
  const names = Object.keys(left);
  return (
    Array.isArray(left) === Array.isArray(right) &&
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(memberOf(left, name), memberOf(right, name)))
  );
}

function memberOf(object: object, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}
