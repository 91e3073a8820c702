/** A reason why JSON does not have one exact value, at a path such as `action.arguments.account`. */
export interface JsonFlaw {
  readonly path: string;
  readonly code: 'duplicate_key' | 'inexact_number';
  /** The problem and the fix, phrased to follow the path. */
  readonly message: string;
}

/** The parts of `JSON` that keep the digits of numbers (ECMAScript, "JSON.parse source text access"). */
interface JsonWithSource {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

const json = JSON as unknown as Partial<JsonWithSource> & Pick<JsonWithSource, 'parse'>;

/**
 * JSON that may contain a number of more digits than a double has, or with an exponent. A number follows one of these
 * characters, so that the digits of a hash are not taken for one.
 */
const mayBeInexact = /(?:^|[[:,\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/;

const quote = 0x22;
const backslash = 0x5c;
const wholeNumber = /^-?\d+$/;

/** JSON that may contain a whole number that a double cannot represent. */
const manyDigits = /\d{16}/;

/** Maximum length of a number that is compared digit by digit; a double never needs more. */
const maxComparedLength = 400;

/**
 * Parses JSON without losing a digit: a number that a double cannot hold, such as `1917043659912705297`, becomes a
 * `JSON.rawJSON` object, which `JSON.stringify` writes as it was.
 *
 * @throws SyntaxError when it is not JSON
 */
export function parseExactJson(text: string): unknown {
  const { rawJSON } = json;
  if (!rawJSON || !mayBeInexact.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isInexact(source, value) ? rawJSON(source) : value,
  );
}

/**
 * Parses JSON for code that computes with the values: whole numbers beyond 2^53 become a BigInt, because another number,
 * such as the id of another account, would have the same double. Call {@link jsonFlaw} first, for what has no exact value.
 *
 * @throws SyntaxError when it is not JSON
 */
export function parseJsonWithBigInts(text: string): unknown {
  return parseLargeIntegers(text, BigInt);
}

/**
 * Parses JSON that is only written again, in less time than {@link parseExactJson}: only whole numbers keep all digits.
 *
 * @throws SyntaxError when it is not JSON
 */
export function parseJsonForOutput(text: string): unknown {
  return json.rawJSON ? parseLargeIntegers(text, json.rawJSON) : JSON.parse(text);
}

/**
 * Parses JSON, and converts whole numbers beyond 2^53 from their digits.
 *
 * @throws SyntaxError when it is not JSON
 */
export function parseLargeIntegers(text: string, convert: (digits: string) => unknown): unknown {
  if (!manyDigits.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, context?: { readonly source?: string }) => {
    const source = context?.source;
    const isLarge = typeof value === 'number' && !Number.isSafeInteger(value);
    return isLarge && source !== undefined && wholeNumber.test(source) ? convert(source) : value;
  });
}

/** Returns `true` if a value contains a whole number that a double cannot hold. */
export function hasLargeInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  return Object.values(value).some(hasLargeInteger);
}

/** Returns the digits of a number of {@link parseExactJson} that no double can hold; undefined for any other value. */
export function exactDigitsOf(value: object): string | undefined {
  return json.isRawJSON?.(value) ? (value as { readonly rawJSON: string }).rawJSON : undefined;
}

/** Maximum number of times that objects occur again in a value that is serialized. */
const maxRepetitions = 10_000;

/**
 * Serializes a value as `JSON.stringify` does, but a BigInt as its digits, and in time proportional to its objects: a few
 * objects that refer to each other would otherwise be as long as all paths through them.
 *
 * @throws RangeError when objects occur again too often
 * @throws TypeError when the value is circular
 */
export function stringifyExactJson(value: unknown): string | undefined {
  const { rawJSON } = json;
  const seen = new Set<object>();
  let repetitions = 0;
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint' && rawJSON) return rawJSON(String(part));
    if (typeof part !== 'object' || part === null) return part;
    if (!seen.has(part)) seen.add(part);
    else if (++repetitions > maxRepetitions) throw new RangeError('The same objects occur too often.');
    return part;
  });
}

/** Returns the name of a member that an object of the text has twice; undefined if there is none. */
export function repeatedMember(text: string): string | undefined {
  const names: Set<string>[] = [];
  for (const [token, name] of text.matchAll(/[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(?:\s*:)?/g)) {
    if (token === '{') names.push(new Set());
    else if (token === '}') names.pop();
    else if (name !== undefined && token.endsWith(':')) {
      const key = name.includes('\\') ? (JSON.parse(name) as string) : name.slice(1, -1);
      const known = names.at(-1);
      if (known?.has(key)) return key;
      known?.add(key);
    }
  }
  return undefined;
}

/** An object or a list around a place in the text. */
interface Container {
  /** Names seen so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  isNameNext: boolean;
  /** Name or index of the current member. */
  member: string | number;
}

/**
 * Returns the first flaw of a JSON text: a name that occurs twice in one object, of which programs may read either, or a
 * fraction with more digits than a double holds. `undefined` if there is none.
 *
 * @param text - text that `JSON.parse` accepts
 */
export function jsonFlaw(text: string): JsonFlaw | undefined {
  const within: Container[] = [];
  const path = () => within.map(({ member }) => member).join('.');
  for (let index = 0; index < text.length; index += 1) {
    const container = within.at(-1);
    const code = text.charCodeAt(index);
    if (code === quote) {
      const end = endOfString(text, index);
      if (container?.names && container.isNameNext) {
        const name = JSON.parse(text.slice(index, end)) as string;
        container.member = name;
        container.isNameNext = false;
        if (container.names.has(name)) {
          const message = 'occurs twice in its object; send it once';
          return { path: path(), code: 'duplicate_key', message };
        }
        container.names.add(name);
      }
      index = end - 1;
    } else if (code === 0x7b) {
      within.push({ names: new Set(), isNameNext: true, member: '' });
    } else if (code === 0x5b) {
      within.push({ names: undefined, isNameNext: false, member: 0 });
    } else if (code === 0x7d || code === 0x5d) {
      within.pop();
    } else if (code === 0x2c) {
      if (container?.names) container.isNameNext = true;
      else if (container) container.member = (container.member as number) + 1;
    } else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, index);
      if (!isExact(text.slice(index, end))) {
        const message = 'has more digits than a number in JSON keeps; send it as a string';
        return { path: path(), code: 'inexact_number', message };
      }
      index = end - 1;
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text.charCodeAt(index) !== quote) index += text.charCodeAt(index) === backslash ? 2 : 1;
  return index + 1;
}

function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  // Digits, a point, an exponent and its sign.
  while (index < text.length && /[\d.eE+-]/.test(text[index] as string)) index += 1;
  return index;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** `true` if no digit of a literal is lost: a whole number is kept as such, and a fraction must survive as a double. */
function isExact(literal: string): boolean {
  return wholeNumber.test(literal) || !isInexact(literal, Number(literal));
}

function isInexact(source: string, value: number): boolean {
  if (!Number.isFinite(value) || source.length > maxComparedLength) return true;
  return decimalOf(source) !== decimalOf(String(value));
}

/** Returns the significant digits of a number and the place of its point, which are the same in every notation. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const point = Number(exponent) + digits.length - fraction.length;
  return `${sign}${digits.replace(/0+$/, '')}e${point}`;
}

/**
 * Applies a JSON Merge Patch (RFC 7396): objects are merged, null removes a member, any other value replaces.
 *
 * @param target - value to patch; it is not modified
 * @param patch - patch whose depth the caller must limit (`limits.maxJsonDepth` on the wire): this function recurses
 * @returns the patched value
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
