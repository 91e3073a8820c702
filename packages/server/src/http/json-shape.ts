import { limits } from '@actlog/protocol';

/** What a look at a parsed JSON body found. */
export interface JsonShape {
  /** Whether keys named `__proto__` were taken out. */
  readonly protoKeysRemoved: boolean;
  /** Why the body cannot be taken, in words that follow its path. */
  readonly problem: string | undefined;
}

const protoKey = '__proto__';

/**
 * Bytes of memory that one character takes at most, in the text and in what is made of it, and one value: an empty
 * object takes many times its text.
 */
const characterBytes = 4;
const valueBytes = 96;

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');

/** Bytes of memory that a JSON body takes at most, as text and parsed: told without parsing it. */
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
 * Looks through a parsed body without recursion: refuses nesting beyond the bound and numbers that JSON can write
 * but a double cannot hold, and takes out `__proto__` keys, which would turn into prototypes where a library
 * copies objects key by key. A body with such keys is evidence of an attack, so it is kept without them.
 */
export function inspectJson(body: unknown, maxDepth: number = limits.maxJsonDepth): JsonShape {
  let protoKeysRemoved = false;
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return { protoKeysRemoved, problem: 'holds a number that is too large' };
      }
      if (typeof value !== 'object' || value === null) continue;
      if (depth >= maxDepth) {
        return { protoKeysRemoved, problem: `is nested deeper than ${maxDepth} levels` };
      }
      if (Array.isArray(value)) {
        for (const item of value) next.push(item);
        continue;
      }
      if (Object.hasOwn(value, protoKey)) {
        Reflect.deleteProperty(value, protoKey);
        protoKeysRemoved = true;
      }
      for (const key in value) next.push((value as Record<string, unknown>)[key]);
    }
    level = next;
  }
  return { protoKeysRemoved, problem: undefined };
}
