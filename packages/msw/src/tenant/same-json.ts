/** Whether two JSON values are equal, whatever the order of members. Bodies are bounded in depth. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return left === right; // to JSON, 0 and -0 are one number
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
