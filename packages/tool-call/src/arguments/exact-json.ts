/** The parts of `JSON` for numbers in their own digits (ECMAScript, "JSON.parse source text access"). */
interface JsonWithSource {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

const json = JSON as unknown as Partial<JsonWithSource> & Pick<JsonWithSource, 'parse'>;

/** Texts that may contain a number of more digits than a double has, or with an exponent. */
const mayBeInexact = /(?:\d\.?){16}|\d[eE]/;

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
