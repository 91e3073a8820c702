/** Upper bounds of the content of shown arguments. */
export interface ShownSize {
  /** Number of values, including the arguments object itself. */
  readonly values: number;
  /** Characters of all texts and field names. */
  readonly characters: number;
}

/**
 * Limits on the shown arguments that a condition may read. The cost of a condition is estimated from them.
 */
export const shownBounds: ShownSize = { values: 500, characters: 32 * 1024 };

/** Returns `true` if a condition may read these arguments. Stops reading at the limit. */
export function areBounded(shown: Readonly<Record<string, unknown>>): boolean {
  return sizeOf(shown) !== undefined;
}

/** Returns the size of shown arguments; undefined beyond {@link shownBounds}, where it stops reading. */
export function sizeOf(shown: Readonly<Record<string, unknown>>): ShownSize | undefined {
  let characters = 0;
  const found: unknown[] = [shown];
  for (let index = 0; index < found.length; index += 1) {
    const value = found[index];
    if (typeof value === 'string') characters += value.length;
    // Checking the length first avoids copying a very long list.
    if (Array.isArray(value) && value.length > shownBounds.values) return undefined;
    const inner = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (found.length + inner.length > shownBounds.values) return undefined;
    // A condition reads the names of an object like texts.
    if (inner.length > 0 && !Array.isArray(value)) characters += Object.keys(value as object).join('').length;
    if (characters > shownBounds.characters) return undefined;
    found.push(...inner);
  }
  return { values: found.length, characters };
}
