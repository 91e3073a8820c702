import { LinearSearch } from './linear-search.ts';

/**
 * Maximum length that V8 searches for in linear time. For longer texts it only applies that to the last 250
 * characters: such a search took 100 ms in a text of 32,000 characters.
 */
const longestNative = 250;

/** Returns the index of the first `searched` at or after `from`, or -1, in time linear in both lengths. */
export function indexOfText(text: string, searched: string, from = 0): number {
  if (searched.length <= longestNative) return text.indexOf(searched, from);
  if (searched.length > text.length - from) return -1;
  return new LinearSearch(searched).indexIn(text, from);
}

/**
 * Splits a text at each `separator` in time linear in the lengths. An empty separator splits it into characters. The
 * last of `most` parts contains the rest of the text.
 */
export function splitText(text: string, separator: string, most = Number.POSITIVE_INFINITY): string[] {
  const parts: string[] = [];
  if (most < 1) return parts;
  let begin = 0;
  while (parts.length < most - 1) {
    const at = separator === '' ? begin + 1 : indexOfText(text, separator, begin);
    if (at < 0 || (separator === '' && at >= text.length)) break;
    parts.push(text.slice(begin, at));
    begin = at + separator.length;
  }
  if (separator !== '' || text !== '') parts.push(text.slice(begin));
  return parts;
}
