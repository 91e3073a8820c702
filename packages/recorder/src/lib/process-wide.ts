import { randomBytes } from 'node:crypto';

/**
 * Returns a function that returns a value shared by all copies of a package in a process: an application may load one
 * version, and a library that it uses another.
 *
 * The function looks the value up once and caches it, because access to `globalThis` is slow in the path of a call.
 *
 * @param name - name of the symbol on `globalThis` (`Symbol.for`), such as `@actlog/recorder/session`. All versions
 * that use a name must understand each other's values
 * @param make - creates the value on the first call of any copy; an error is thrown there, and the next call retries
 */
export function processWide<Value extends object>(name: string, make: () => Value): () => Value {
  const key = Symbol.for(name);
  let kept: Value | undefined;
  return () => {
    if (kept !== undefined) return kept;
    const registry = globalThis as { [key: symbol]: Value | undefined };
    registry[key] ??= make();
    kept = registry[key];
    return kept;
  };
}

/**
 * Does the same as {@link processWide} for one value per owner, such as a recorder. It lives as long as its owner.
 *
 * @param name - name of the symbol on `globalThis` for a `WeakMap` from owners to values
 * @param make - creates the value of an owner on the first call for that owner
 */
export function processWidePerOwner<Owner extends object, Value>(
  name: string,
  make: () => Value,
): (owner: Owner) => Value {
  const values = processWide(name, () => new WeakMap<Owner, Value>());
  return (owner) => {
    const all = values();
    const known = all.get(owner);
    if (known !== undefined) return known;
    const made = make();
    all.set(owner, made);
    return made;
  };
}

let secret: string | undefined;

/**
 * Returns the secret of this process for digests that stay in memory. Created when it is first used, because workerd
 * allows no random values while modules are loaded.
 */
export function processSecret(): string {
  secret ??= randomBytes(16).toString('hex');
  return secret;
}
