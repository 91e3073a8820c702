import { exactDigitsOf } from '@actlog/protocol';

/** Maximum nesting of arguments; deeper values are replaced by a marker. */
export const maxArgumentsDepth = 512;

/** Approximate maximum number of characters that are canonicalized at once: well under a millisecond. */
export const maxPlainSize = 32 * 1024;

/**
 * Returns `true` if a value is plain JSON that the canonicalization library accepts at once: finite numbers,
 * well-formed strings, objects without a class or `toJSON`, and overall neither large nor deep nor circular. Visits
 * each node once and stops at the first that does not qualify.
 */
export function isSmallPlainJson(value: unknown, depth: number): boolean {
  return remainingAfter(value, maxPlainSize, depth) >= 0;
}

/** Returns the budget left after `value`, or a negative number if it does not qualify. */
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
  // By index, because holes count as null; a cycle ends when the budget is used up.
  for (let index = 0; index < array.length && remaining >= 0; index += 1) {
    remaining = remainingAfter(array[index], remaining, depth + 1);
  }
  return 'toJSON' in array ? -1 : remaining;
}

function remainingAfterObject(object: object, budget: number, depth: number): number {
  const prototype = Object.getPrototypeOf(object);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in object) return -1;
  if (prototype === null && exactDigitsOf(object) !== undefined) return -1;
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
