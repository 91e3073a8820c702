import { limits } from '@actlog/protocol';

/** What a look at a parsed JSON body found. */
export interface JsonShape {
  /** Values in the body, those within others too. */
  readonly values: number;
  /** Whether keys named `__proto__` were taken out. */
  readonly protoKeysRemoved: boolean;
  /** Why the body cannot be taken, in words that follow its path. */
  readonly problem: string | undefined;
}

const protoKey = '__proto__';

/**
 * Looks through a parsed body without recursion: refuses nesting beyond the bound and numbers that JSON can write
 * but a double cannot hold, and takes out `__proto__` keys, which would turn into prototypes where a library
 * copies objects key by key. A body with such keys is evidence of an attack, so it is kept without them.
 */
export function inspectJson(body: unknown, maxDepth: number = limits.maxJsonDepth): JsonShape {
  let protoKeysRemoved = false;
  let values = 0;
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    values += level.length;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return { values, protoKeysRemoved, problem: 'holds a number that is too large' };
      }
      if (typeof value !== 'object' || value === null) continue;
      if (depth >= maxDepth) {
        return { values, protoKeysRemoved, problem: `is nested deeper than ${maxDepth} levels` };
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
  return { values, protoKeysRemoved, problem: undefined };
}
