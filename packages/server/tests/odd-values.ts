/** Converts a value to text for a query, an identifier or a whole body. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a generator with the same numbers for the same seed (mulberry32), so that failures can be reproduced. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Values that a careless program or an attacker sends instead of the expected ones. */
export const oddValues: readonly unknown[] = [
  null,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  'x'.repeat(5000),
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '%00',
  '../../etc/passwd',
  '😀'.repeat(120),
  0,
  -1,
  1.5,
  1e308,
  -0,
  9_007_199_254_740_992,
  2_147_483_648,
  true,
  [],
  [[[[[]]]]],
  {},
  { __proto__: { a: 1 } },
  JSON.parse('{"toString":1,"valueOf":1,"then":1}'),
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '00000000-0000-0000-0000-000000000000',
];
