/** Upper bounds of the content of a value in a condition. */
export interface ValueSize {
  /** Characters of all strings in it, including field names. */
  readonly characters: number;
  /** Number of values in it, including itself. */
  readonly values: number;
  /** Nesting depth of its first fields and items, which an operator visits to determine its type. */
  readonly depth: number;
  /** `true` if it contains a part of the current item of a comprehension. */
  readonly isOfItem?: boolean | undefined;
}

/** A number, a boolean, null, or an empty text. */
export const scalar: ValueSize = { characters: 0, values: 1, depth: 1 };

/** Returns the size of a string of at most `characters` characters. */
export function textOf(characters: number): ValueSize {
  return { ...scalar, characters };
}

/** Returns the size of a container of the given values. */
export function sumOf(sizes: readonly ValueSize[]): ValueSize {
  return {
    characters: sizes.reduce((sum, size) => sum + size.characters, 0),
    values: sizes.reduce((sum, size) => sum + size.values, 1),
    depth: sizes.reduce((most, size) => Math.max(most, size.depth), 0) + 1,
    isOfItem: sizes.some((size) => size.isOfItem),
  };
}

/** Returns the bounds of a value that is one of two. */
export function eitherOf(left: ValueSize, right: ValueSize): ValueSize {
  return {
    characters: Math.max(left.characters, right.characters),
    values: Math.max(left.values, right.values),
    depth: Math.max(left.depth, right.depth),
    isOfItem: left.isOfItem || right.isOfItem,
  };
}

/**
 * Returns how much of two values a comparison reads: no more than the smaller one contains. Rounds of a comprehension
 * are estimated by one round with all items combined, so a part of the item counts in full.
 */
export function comparedOf(left: ValueSize, right: ValueSize): Pick<ValueSize, 'characters' | 'values'> {
  if (!left.isOfItem && !right.isOfItem) {
    return {
      characters: Math.min(left.characters, right.characters),
      values: Math.min(left.values, right.values),
    };
  }
  const [item, other] = left.isOfItem ? [left, right] : [right, left];
  return other.isOfItem ? eitherOf(item, other) : item;
}

/** Bound of a function: its cost in microseconds, and the size of what it returns. */
export interface FunctionBound {
  readonly cost: number;
  readonly size: ValueSize;
}

/** Microseconds per character that a function reads, for the slowest text; functions not listed read none. */
const perCharacter: Readonly<Record<string, number>> = {
  base64: 0.002,
  bool: 0.001,
  bytes: 0.005,
  contains: 0.014,
  hex: 0.005,
  indexOf: 0.014,
  int: 0.001,
  join: 0.008,
  json: 0.045,
  lowerAscii: 0.006,
  size: 0.009,
  split: 0.08,
  string: 0.005,
  trim: 0.002,
  uint: 0.001,
  upperAscii: 0.06,
};

/** Microseconds per character of a string that is compared with the beginning or the end of another. */
const perComparedCharacter = 0.002;

/** Maximum growth factor of a string by function. */
const growth: Readonly<Record<string, number>> = {
  base64: 4 / 3,
  bytes: 3,
  hex: 2,
  lowerAscii: 2,
  upperAscii: 3,
};

/** Microseconds of a call, excluding the time to read its arguments. */
const perCall = 0.4;

/** Microseconds to convert a time to a time zone. */
const timeZoneCost = 250;

/** Microseconds per list item or object field that `size`, `join` and `any` visit. */
const perValue = 0.02;

/** Functions that read at most as much of the searched text as of the text they search in. */
const searches = new Set(['contains', 'indexOf', 'split']);

/** Microseconds per character of a native search, for search strings of up to `longest` characters. */
const nativeSearch = { longest: 250, perCharacter: 0.007 };

/** Functions that read the history of a session or an agent, and the microseconds to search it. */
const historyFunctions = new Set([
  'called',
  'calledAfter',
  'count',
  'failed',
  'firstUse',
  'started',
  'successes',
  'sum',
  'untrusted',
]);
const historyCost = 150;

/** Microseconds to parse a number from the longest possible text. */
const doubleCost = 6;

/** Returns the bound of a function without a receiver, such as `size(args.list)`. */
export function functionCost(name: string, given: readonly ValueSize[]): FunctionBound {
  return name === 'double' ? { cost: doubleCost, size: scalar } : boundOf(name, given);
}

/**
 * Returns the bound of a method, such as `text.contains(other)`.
 *
 * @param sizes - sizes of the receiver and then of the arguments
 * @param literals - values of literal arguments; undefined for other arguments
 */
export function methodCost(
  name: string,
  sizes: readonly ValueSize[],
  literals: readonly unknown[],
): FunctionBound {
  const [receiver = scalar, first = scalar] = sizes;
  if (historyFunctions.has(name)) return { cost: historyCost, size: scalar };
  const bound = boundOf(name, sizes);
  switch (name) {
    case 'aimedByText':
      return { cost: perCall + 10 * receiver.values * perValue + receiver.characters * 0.01, size: scalar };
    case 'any':
      return { cost: perCall + receiver.values * perValue, size: scalar };
    case 'contains':
    case 'indexOf': {
      const isShort = first.characters <= nativeSearch.longest;
      return isShort ? { ...bound, cost: perCall + receiver.characters * nativeSearch.perCharacter } : bound;
    }
    case 'endsWith':
    case 'startsWith':
      return { ...bound, cost: perCall + comparedOf(receiver, first).characters * perComparedCharacter };
    case 'lastIndexOf':
      // It compares the full searched text at each position.
      return { ...bound, cost: perCall + receiver.characters * (first.characters + 1) * 0.002 };
    case 'split': {
      const most = typeof literals[1] === 'bigint' && literals[1] >= 0n ? Number(literals[1]) : Infinity;
      const values = Math.min(receiver.characters + 1, most) + 1;
      return { ...bound, size: { characters: receiver.characters, values, depth: 2 } };
    }
    case 'join': {
      const characters = receiver.characters + receiver.values * first.characters;
      const cost = perCall + characters * (perCharacter.join as number) + receiver.values * perValue;
      return { cost, size: textOf(characters) };
    }
    case 'json':
      // Every second character can start a value.
      return {
        ...bound,
        size: {
          characters: receiver.characters,
          values: receiver.characters + 1,
          depth: receiver.characters + 1,
        },
      };
    default:
      return name.startsWith('get') && sizes.length > 1 ? { ...bound, cost: timeZoneCost } : bound;
  }
}

function boundOf(name: string, given: readonly ValueSize[]): FunctionBound {
  const [first = scalar] = given;
  const read = searches.has(name)
    ? first.characters
    : given.reduce((sum, { characters }) => sum + characters, 0);
  const values = name === 'size' ? first.values : 0;
  const cost = perCall + read * (perCharacter[name] ?? 0) + values * perValue;
  // The result of a function is a scalar, a part of its argument, or a string made from it.
  return { cost, size: { ...first, characters: first.characters * (growth[name] ?? 1) } };
}
