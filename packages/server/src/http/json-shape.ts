import { limits } from '@actlog/protocol';

/** Result of inspecting a parsed JSON body. */
export interface JsonShape {
  /** `true` if keys named `__proto__` were removed. */
  readonly protoKeysRemoved: boolean;
  /** Reason for rejecting the body, phrased to follow its path; `undefined` if it is acceptable. */
  readonly problem: string | undefined;
}

const protoKey = '__proto__';

/**
 * Upper bound for the memory of one character, in the text and in the parsed body, and of one value. An empty object
 * takes many times the bytes of its text.
 */
const characterBytes = 4;
const valueBytes = 96;

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/** Returns an upper bound for the memory of a JSON body, as text and parsed, without parsing it. */
export function parsedBytes(text: Buffer): number {
  let values = 1;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const byte = text[index];
    if (byte === quote) inString = !inString;
    else if (inString) index += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === bracket || byte === brace) values += 1;
  }
  return text.length * characterBytes + values * valueBytes;
}

/**
 * Inspects a parsed body without recursion. Rejects nesting beyond the limit and numbers beyond the range of a double.
 * Removes `__proto__` keys, which would become prototypes where a library copies objects key by key. A body with such
 * keys is evidence of an attack, so it is accepted without them.
 */
export function inspectJson(body: unknown, maxDepth: number = limits.maxJsonDepth): JsonShape {
  let protoKeysRemoved = false;
  let isTooLarge = isInfinite(body);
  let level: object[] = isNested(body) ? [body] : [];
  for (let depth = 0; level.length > 0 && !isTooLarge; depth += 1) {
    if (depth >= maxDepth) return { protoKeysRemoved, problem: `is nested deeper than ${maxDepth} levels` };
    const next: object[] = [];
    // A body can contain a hundred thousand numbers; only containers are visited again.
    const visit = (value: unknown): void => {
      if (isNested(value)) next.push(value);
      else if (isInfinite(value)) isTooLarge = true;
    };
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const item of value) visit(item);
        continue;
      }
      if (Object.hasOwn(value, protoKey)) {
        Reflect.deleteProperty(value, protoKey);
        protoKeysRemoved = true;
      }
      for (const key in value) visit((value as Record<string, unknown>)[key]);
    }
    level = next;
  }
  if (isTooLarge) return { protoKeysRemoved, problem: 'contains a number that is too large' };
  return { protoKeysRemoved, problem: undefined };
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}
