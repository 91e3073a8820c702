/** Upper bounds of the content of a value in a condition. */
export interface ValueSize {
  /** Characters of all texts in it, including field names. */
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

/** Returns the size of a text of at most `characters` characters. */
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
