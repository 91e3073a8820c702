/**
 * What there is one of in a process, however many copies of a package are loaded: an application may bring one
 * version of a package, and a library that it uses another.
 *
 * It is looked up at each call and never kept here: whoever deletes the symbol begins anew.
 *
 * @param name - of the symbol on `globalThis` (`Symbol.for`), such as `@actlog/recorder/session`. Every version that
 * uses a name has to understand what another version made under it
 * @param make - makes it at the first call of any copy; what it throws is thrown there, and the next call tries again
 * @returns gives it, without an allocation once it is made
 */
export function processWide<Value extends object>(name: string, make: () => Value): () => Value {
  const key = Symbol.for(name);
  return () => {
    const registry = globalThis as { [key: symbol]: Value | undefined };
    const known = registry[key];
    if (known !== undefined) return known;
    const made = make();
    registry[key] = made;
    return made;
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
