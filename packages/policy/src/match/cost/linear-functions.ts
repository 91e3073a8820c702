import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { nodesOf } from '../syntax-tree.ts';

/**
 * A compiled search string (Knuth-Morris-Pratt). A search always reads each character of the other string only once.
 */
export class LinearSearch {
  readonly searched: string;
  /** For each prefix of `searched`, the length of its longest proper prefix that is also its suffix. */
  readonly #borders: Uint32Array | Uint8Array;

  constructor(searched: string) {
    this.searched = searched;
    // Patterns are short, and a tenant may have thousands of them.
    this.#borders =
      searched.length < 256 ? new Uint8Array(searched.length) : new Uint32Array(searched.length);
    let length = 0;
    for (let at = 1; at < searched.length; at += 1) {
      length = this.#matchedAfter(length, searched.charCodeAt(at));
      this.#borders[at] = length;
    }
  }

  /** Returns the index in `text` of the first occurrence that lies between `from` and `end`, or -1. */
  indexIn(text: string, from: number, end: number = text.length): number {
    const { length } = this.searched;
    if (length === 0) return from <= end ? from : -1;
    let matched = 0;
    for (let at = from; at < end; at += 1) {
      matched = this.#matchedAfter(matched, text.charCodeAt(at));
      if (matched === length) return at - length + 1;
    }
    return -1;
  }

  /**
   * Returns the number of characters of `searched` that match after one more; `matched` (less than all)
   * matched before.
   */
  #matchedAfter(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.searched.charCodeAt(length) !== code)
      length = this.#borders[length - 1] as number;
    return this.searched.charCodeAt(length) === code ? length + 1 : length;
  }
}

/** Cache of lower-case and upper-case strings of the current evaluation; undefined outside of one. */
let made: { readonly lower: Map<string, string>; readonly upper: Map<string, string> } | undefined;

/** Runs an evaluation with a cache, so that a loop changes the case of the same text only once. */
export function rememberingLetters<Result>(evaluate: () => Result): Result {
  made = { lower: new Map(), upper: new Map() };
  try {
    return evaluate();
  } finally {
    made = undefined;
  }
}

/** Returns a string in lower case. */
function lowerCaseOf(text: string): string {
  return remembered(made?.lower, text, () => text.toLowerCase());
}

/** Returns a string in upper case. */
function upperCaseOf(text: string): string {
  return remembered(made?.upper, text, () => text.toUpperCase());
}

function remembered(known: Map<string, string> | undefined, text: string, change: () => string): string {
  const before = known?.get(text);
  if (before !== undefined) return before;
  const changed = change();
  known?.set(text, changed);
  return changed;
}

/**
 * Maximum length that V8 searches for in linear time. For longer strings it only applies that to the last 250
 * characters: such a search took 100 ms in a string of 32,000 characters.
 */
const longestNative = 250;

/** Returns the index of the first `searched` at or after `from`, or -1, in time linear in both lengths. */
export function indexOfText(text: string, searched: string, from = 0): number {
  if (searched.length <= longestNative) return text.indexOf(searched, from);
  if (searched.length > text.length - from) return -1;
  return new LinearSearch(searched).indexIn(text, from);
}

/**
 * Splits a string at each `separator` in time linear in the lengths. An empty separator splits it into characters. The
 * last of `most` parts contains the rest of the string.
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

/** Library functions that can take long for some strings, with the names of their linear-time replacements. */
const replacements: ReadonlyMap<string, string> = new Map([
  ['contains', 'linearContains'],
  ['double', 'linearDouble'],
  ['indexOf', 'linearIndexOf'],
  ['lowerAscii', 'linearLowerAscii'],
  ['split', 'linearSplit'],
  ['upperAscii', 'linearUpperAscii'],
]);

const originals: ReadonlyMap<string, string> = new Map(
  [...replacements].map(([name, replacement]) => [replacement, name]),
);

/** Adds linear-time text functions to an environment; {@link withLinearFunctions} binds calls to them. */
export function registerLinearFunctions(environment: Environment): Environment {
  const register = <Given extends unknown[]>(signature: string, handler: (...given: Given) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  register(
    'string.linearContains(string): bool',
    (text: string, searched: string) => indexOfText(text, searched) >= 0,
  );
  register('string.linearIndexOf(string): int', (text: string, searched: string) =>
    BigInt(indexOfText(text, searched)),
  );
  register('string.linearIndexOf(string, int): int', (text: string, searched: string, from: bigint) => {
    if (searched === '') return from;
    if (from >= 0n && from < text.length) return BigInt(indexOfText(text, searched, Number(from)));
    throw new RangeError('string.indexOf(search, fromIndex): fromIndex out of range');
  });
  register('string.linearSplit(string): list<string>', (text: string, separator: string) =>
    splitText(text, separator),
  );
  register('string.linearSplit(string, int): list<string>', (text: string, separator: string, most: bigint) =>
    splitText(text, separator, most < 0n ? Number.POSITIVE_INFINITY : Number(most)),
  );
  register('string.linearLowerAscii(): string', lowerCaseOf);
  register('string.linearUpperAscii(): string', upperCaseOf);
  register('linearDouble(double): double', (value: number) => value);
  register('linearDouble(int): double', Number);
  register('linearDouble(uint): double', Number);
  register('linearDouble(string): double', doubleOf);
  return environment;
}

/** Special values of `double`, in lower case. */
const specialDoubles: ReadonlyMap<string, number> = new Map([
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['nan', Number.NaN],
]);

/** Maximum length of text that is parsed as a number; the largest double has 309 digits. */
const longestDouble = 400;

/** Parses a number like the library, but rejects strings that are longer than any number. */
function doubleOf(text: string): number {
  if (text !== '' && text.length <= longestDouble && text === text.trim()) {
    const special = specialDoubles.get(text.toLowerCase());
    if (special !== undefined) return special;
    const value = Number(text);
    if (!Number.isNaN(value)) return value;
  }
  throw new TypeError('double() type error: cannot convert to double');
}

/**
 * Runs `check`, which binds each call of a syntax tree to a function, with the library's slow functions replaced by
 * ours. The tree is restored afterwards.
 */
export function withLinearFunctions<Result>(root: ASTNode, check: () => Result): Result {
  const rename = (names: ReadonlyMap<string, string>) => {
    for (const node of nodesOf(root)) {
      if (node.op !== 'rcall' && node.op !== 'call') continue;
      const call = node.args as [string, ...unknown[]];
      call[0] = names.get(call[0]) ?? call[0];
    }
  };
  rename(replacements);
  try {
    return check();
  } finally {
    rename(originals);
  }
}

/** Restores the original function names in an error message of the library. */
export function asWritten(message: string): string {
  return [...replacements].reduce((text, [name, replacement]) => text.replaceAll(replacement, name), message);
}
