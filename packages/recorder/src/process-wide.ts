/**
 * What there is one of in a process, however many copies of a package are loaded: an application may bring one
 * version of a package, and a library that it uses another.
 *
 * What is returned looks it up once, as `globalThis` is slow to look through on a call's way, and keeps it.
 *
 * @param name - of the symbol on `globalThis` (`Symbol.for`), such as `@actlog/recorder/session`. Every version that
 * uses a name has to understand what another version made under it
 * @param make - makes it at the first call of any copy; what it throws is thrown there, and the next call tries again
 * @returns gives it
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
 * {@link processWide} for what there is one of for each owner, such as a recorder. It lives as long as its owner.
 *
 * @param name - of the symbol on `globalThis` that a `WeakMap` from owners to values is kept by
 * @param make - makes the value of an owner, at the first call for that owner
 * @returns gives the value of an owner
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
