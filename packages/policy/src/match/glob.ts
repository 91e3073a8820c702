import { LinearSearch } from './cost/linear-functions.ts';

/**
 * A compiled pattern in which `*` matches any characters and everything else matches literally. Matching takes time
 * linear in the lengths of the pattern and the text.
 */
export class Glob {
  readonly pattern: string;
  /** Required prefix; the whole text if the pattern has no `*`. */
  readonly #first: string;
  /** Required suffix; undefined if the pattern has no `*`. */
  readonly #last: string | undefined;
  /** Parts between the ends, matched in order and without overlaps. */
  readonly #between: readonly LinearSearch[];

  constructor(pattern: string) {
    const [first = '', ...others] = pattern.split('*');
    this.pattern = pattern;
    this.#first = first;
    this.#last = others.pop();
    this.#between = others.filter((part) => part !== '').map((part) => new LinearSearch(part));
  }

  /** Returns `true` if the whole of `text` matches the pattern. */
  matches(text: string): boolean {
    const first = this.#first;
    const last = this.#last;
    if (last === undefined) return text === first;
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    // The earliest match of each part leaves the most room for later parts.
    let from = first.length;
    for (const part of this.#between) {
      const index = part.indexIn(text, from, end);
      if (index < 0) return false;
      from = index + part.searched.length;
    }
    return true;
  }
}

/**
 * Returns `true` if `text` matches a pattern in which `*` matches any characters and everything else matches
 * literally. Takes time linear in the two lengths.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  return new Glob(pattern).matches(text);
}
