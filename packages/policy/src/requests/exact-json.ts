/** A reason why a JSON text does not stand for one exact value, at a path such as `action.arguments.account`. */
export interface JsonFlaw {
  readonly path: string;
  readonly code: 'duplicate_key' | 'inexact_number';
  /** The problem and the fix, phrased to follow the path. */
  readonly message: string;
}

/** Reviver that receives the source text of a value, where the runtime provides it. */
type SourceReviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown;

const quote = 0x22;
const backslash = 0x5c;
const integer = /^-?\d+$/;

/** Digits in a row, with or without a decimal point, of which a double may lose the last. */
const manyDigits = /[\d.]{16}/;

/**
 * Parses JSON and keeps every digit: whole numbers beyond 2^53 become a BigInt, because another number, such as the id
 * of another account, would have the same double. Call {@link jsonFlaw} first, for what has no exact value.
 *
 * @throws SyntaxError for text that is not JSON.
 */
export function parseExactJson(text: string): unknown {
  return parseWithIntegers(text, BigInt);
}

/**
 * Parses JSON that is only written again, and keeps every digit of whole numbers. Its values must not be computed with.
 *
 * @throws SyntaxError for text that is not JSON.
 */
export function parseForOutput(text: string): unknown {
  const { rawJSON } = JSON as { readonly rawJSON?: (source: string) => unknown };
  return rawJSON ? parseWithIntegers(text, rawJSON) : JSON.parse(text);
}

/** Returns a value as JSON with all digits of a BigInt. `value` is not `undefined`. */
export function exactJson(value: unknown): string {
  const { rawJSON } = JSON as { readonly rawJSON?: (source: string) => unknown };
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'bigint' ? (rawJSON ?? Number)(String(inner)) : inner,
  );
}

/** Returns `true` if a value contains a whole number that a double cannot hold. */
export function hasLargeInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  return Object.values(value).some(hasLargeInteger);
}

function parseWithIntegers(text: string, convert: (source: string) => unknown): unknown {
  if (!manyDigits.test(text)) return JSON.parse(text);
  const revive: SourceReviver = (_name, value, context) => {
    const source = context?.source;
    const isLarge = typeof value === 'number' && !Number.isSafeInteger(value);
    return isLarge && source !== undefined && integer.test(source) ? convert(source) : value;
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
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
  return integer.test(literal) || normal(literal) === normal(String(Number(literal)));
}

/** Returns a decimal number in one form, whatever its zeros and exponent. */
function normal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
