const recorders = new WeakMap<object, Set<object>>();

/** Whether this recorder has not seen the thing before: two plugins of one runner hear of the same. */
export function isNewTo(recorder: object, thing: object): boolean {
  const known = recorders.get(thing) ?? new Set();
  recorders.set(thing, known);
  const isNew = !known.has(recorder);
  known.add(recorder);
  return isNew;
}
