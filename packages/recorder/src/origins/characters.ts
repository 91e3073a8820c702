/** Neither letter nor digit. */
export const separator = 0;
export const letter = 1;
export const digit = 2;
/** Character that is a word of its own, as in languages without spaces. */
export const ideograph = 3;

/** Returns the kind of a character by its UTF-16 code unit. */
export function kindOf(code: number): number {
  if (code < 128) {
    if (code >= 48 && code <= 57) return digit;
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) ? letter : separator;
  }
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? letter : separator;
  if (code >= 0x2000 && code <= 0x2bff) return separator;
  if (code >= 0x3000 && code <= 0x303f) return separator;
  if (code >= 0x3040 && code <= 0x9fff) return ideograph;
  if (code >= 0xff00 && code <= 0xff0f) return separator;
  return letter;
}

/** Length of an ordinal's ending (`st`, `nd`, `rd`, `th`) at this place; 0 if there is none. */
export function ordinalEnding(text: string, at: number, end: number): number {
  if (at + 2 > end) return 0;
  const ending = text.slice(at, at + 2).toLowerCase();
  if (ending !== 'th' && ending !== 'st' && ending !== 'nd' && ending !== 'rd') return 0;
  return at + 2 < end && kindOf(text.charCodeAt(at + 2)) !== separator ? 0 : 2;
}

/** Number of digits from this place on. */
export function digitsAt(text: string, at: number, end: number): number {
  let next = at;
  while (next < end && kindOf(text.charCodeAt(next)) === digit) next += 1;
  return next - at;
}

/** `true` for a character that stands for another one after a backslash. */
export function isEscape(code: number): boolean {
  return code === 110 || code === 114 || code === 116 || code === 34 || code === 39 || code === 92;
}

/** Characters of the longest HTML entity that is recognized. */
const longestEntity = 8;
const entity = /^&(?:amp|lt|gt|quot|apos|nbsp|#\d+);/;

/** Length of an HTML entity at this place; 0 if there is none. */
export function entityAt(text: string, at: number): number {
  return entity.exec(text.slice(at, at + longestEntity))?.[0].length ?? 0;
}
