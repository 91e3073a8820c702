/** Deepest nesting of arguments that is looked into; what lies below is replaced by a marker. */
export const maxArgumentsDepth = 512;

/** Most characters, roughly, that are put into canonical form in one go: well under a millisecond. */
export const maxPlainSize = 32 * 1024;

/**
 * Whether a value is plain JSON that the canonicalisation library takes as it is, in one go: numbers are finite,
 * strings well formed, objects have no class and no `toJSON`, and the whole is neither large nor deep nor
 * circular. It looks at each node once and stops at the first that does not fit.
 */
export function isSmallPlainJson(value: unknown, depth: number): boolean {
  return remainingAfter(value, maxPlainSize, depth) >= 0;
}

/** The part of the budget that is left after `value`, or less than nothing when it does not fit. */
function remainingAfter(value: unknown, budget: number, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length <= budget && value.isWellFormed() ? budget - value.length - 2 : -1;
    case 'number':
      return Number.isFinite(value) ? budget - 8 : -1;
    case 'boolean':
    case 'undefined':
      return budget - 5;
    case 'object':
      if (value === null) return budget - 4;
      if (depth >= maxArgumentsDepth) return -1;
      return Array.isArray(value)
        ? remainingAfterArray(value, budget, depth)
        : remainingAfterObject(value, budget, depth);
    default:
      return -1;
  }
}

function remainingAfterArray(array: readonly unknown[], budget: number, depth: number): number {
  let remaining = budget - 2 - array.length;
  // By index, because holes count as null, and a cycle ends when the budget does.
  for (let index = 0; index < array.length && remaining >= 0; index += 1) {
    remaining = remainingAfter(array[index], remaining, depth + 1);
  }
  return 'toJSON' in array ? -1 : remaining;
}

function remainingAfterObject(object: object, budget: number, depth: number): number {
  const prototype = Object.getPrototypeOf(object);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in object) return -1;
  let remaining = budget - 2;
  for (const key in object) {
    if (!key.isWellFormed()) return -1;
    remaining = remainingAfter(
      (object as Record<string, unknown>)[key],
      remaining - key.length - 4,
      depth + 1,
    );
    if (remaining < 0) return -1;
  }
  return remaining;
}
