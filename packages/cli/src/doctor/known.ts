/** Returns a fact of a check that this one requires. @throws Error when the check did not set it */
export function known<Value>(fact: Value | undefined): Value {
  if (fact === undefined) throw new Error('A check ran before one that it requires.');
  return fact;
}
