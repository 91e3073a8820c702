import { escaped } from './printable.ts';

/** Characters of JSON text that a terminal must not get. Below U+0020, `JSON.stringify` escapes them in strings. */
const hidden = /[\x7f-\x9f\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** `true` if a text has a character that {@link hiddenEscaped} escapes. */
export function hasHidden(text: string): boolean {
  return text.search(hidden) !== -1;
}

/** Returns JSON text, or YAML in which such characters are in double quotes, with escapes that are safe to print. */
export function hiddenEscaped(text: string): string {
  return text.replaceAll(hidden, escaped);
}

/**
 * Returns a value as JSON that is safe to print: the same JSON value, with characters that control a terminal or
 * reorder text written as escapes.
 *
 * @param indent - spaces for each level; none for one line
 */
export function jsonText(value: unknown, indent?: number): string {
  return hiddenEscaped(JSON.stringify(value, null, indent));
}
