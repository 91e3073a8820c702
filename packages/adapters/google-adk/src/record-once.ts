const recorders = new WeakMap<object, Set<unknown>>();

/**
 * Whether this recorder has not seen the thing before: two plugins of one runner hear of the same.
 *
 * @param recorder - undefined is the recorder of the process
 */
export function isNewTo(recorder: unknown, thing: object): boolean {
  const known = recorders.get(thing) ?? new Set();
  recorders.set(thing, known);
  const isNew = !known.has(recorder);
  known.add(recorder);
  return isNew;
}
