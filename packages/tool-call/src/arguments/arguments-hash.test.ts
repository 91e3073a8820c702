import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArgumentsHasher, hashArguments, matchesArguments } from './arguments-hash.ts';

const hashKey = '0123456789abcdef0123456789abcdef';

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

test('hashes the examples of RFC 8785 in their canonical form', async () => {
  // Section 3.2.2 and 3.2.4
  const primitives = {
    numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
    string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  expect(await hashArguments(primitives)).toBe(
    sha256(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    ),
  );
  // Section 3.2.3
  const sorting = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  expect(await hashArguments(sorting)).toBe(
    sha256(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
  );
});

test('sorts number-like names as text', async () => {
  expect(await hashArguments({ 10: 'a', 2: 'b', 1: 'c' })).toBe(sha256('{"1":"c","10":"a","2":"b"}'));
});

test('treats a property named __proto__ like any other', async () => {
  const args = JSON.parse('{"b": 2, "__proto__": {"a": 1}}');
  expect(await hashArguments(args)).toBe(sha256('{"__proto__":{"a":1},"b":2}'));
});

// Appendix B
test.each([
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['41b3de4355555553', '333333333.3333332'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
])('formats the number %s of RFC 8785 as %s', async (bits, text) => {
  const number = Buffer.from(bits, 'hex').readDoubleBE();
  expect(await hashArguments([number])).toBe(sha256(`[${text}]`));
});

test('hashes any JSON value like the canonicalization library, at once, in steps and keyed', async () => {
  const hasher = new ArgumentsHasher();
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), async (value) => {
      const expected = sha256(canonicalize(value) as string);
      expect(hasher.hashSync(value)).toBe(expected);
      // Next to a large value, the same value takes the other code path.
      const large = { large: 'é'.repeat(40_000), value };
      expect(await hasher.hash(large)).toBe(sha256(canonicalize(large) as string));
    }),
    { numRuns: 200 },
  );
});

test('hashes large arguments of every shape like small ones', async () => {
  const shapes = [
    {
      rows: Array.from({ length: 5_000 }, (_, index) => ({
        index,
        name: `row ${index}`,
        parts: [index / 3],
      })),
    },
    Object.fromEntries(Array.from({ length: 9_500 }, (_, index) => [`key ${(index * 7919) % 9_500}`, index])),
    ['🔎'.repeat(40_000), `x${'🔎'.repeat(40_000)}`],
  ];
  for (const shape of shapes) expect(await hashArguments(shape)).toBe(sha256(canonicalize(shape) as string));
});

test('hashes objects that occur twice like their JSON', async () => {
  const address = { city: 'Ulm', lines: Array.from({ length: 9_000 }, (_, index) => `line ${index}`) };
  const order = { billing: address, shipping: address, history: [address, { address }] };
  expect(await hashArguments(order)).toBe(await hashArguments(JSON.parse(JSON.stringify(order))));
});

/** Values of few objects, but with more paths through them than any time allows. */
const entangled: [string, () => unknown][] = [
  [
    'people and groups that list each other',
    () => {
      const people = Array.from({ length: 40 }, (_, id) => ({ id, groups: [] as unknown[] }));
      const groups = Array.from({ length: 40 }, (_, id) => ({ id, members: people }));
      for (const person of people) person.groups = groups;
      return { people };
    },
  ],
  ['a pair of pairs, 60 deep', () => nested((inner) => ({ left: inner, right: inner }))],
  ['lists in lists', () => nested((inner) => [inner, inner, inner])],
  ['maps in maps', () => nested((inner) => new Map([inner, inner].entries()))],
  ['sets of objects', () => nested((inner) => new Set([[inner], [inner]]))],
  ['values with toJSON', () => nested((inner) => ({ toJSON: () => ({ left: inner, right: inner }) }))],
  ['a list of one large text', () => Array(200_000).fill({ text: 'x'.repeat(30_000) })],
  ['a list of one large buffer', () => Array(20_000).fill({ bytes: Buffer.alloc(1024 * 1024) })],
];

function nested(around: (inner: unknown) => unknown): unknown {
  let value: unknown = { text: 'x'.repeat(100) };
  for (let level = 0; level < 60; level += 1) value = around(value);
  return value;
}

test.each(entangled)('hashes %s in time proportional to the objects', async (_name, create) => {
  const hasher = new ArgumentsHasher();
  const hash = await hasher.hash(create());
  expect(hasher.hashSync(create())).toBe(hash);
});

test('yields to other work while hashing 5 MB', async () => {
  const rows = Array.from({ length: 60_000 }, (_, index) => ({
    index,
    name: `row ${index}`,
    text: 'x'.repeat(40),
  }));
  const hasher = new ArgumentsHasher();
  const expected = hasher.hashSync({ rows });
  let turns = 0;
  let isDone = false;
  const hash = Promise.resolve(hasher.hash({ rows })).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns += 1;
    await nextTurn();
  }
  expect(turns).toBeGreaterThan(2);
  expect(await hash).toBe(expected);
});

test('prefixes a keyed hash and requires its key', async () => {
  const hash = await hashArguments({ pin: 1234 }, { hashKey });
  expect(hash).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
  expect(await hashArguments({ pin: 1234 }, { hashKey: Buffer.from(hashKey) })).toBe(hash);
  expect(await matchesArguments(hash, { pin: 1234 }, { hashKey })).toBe(true);
  expect(await matchesArguments(hash, { pin: 1235 }, { hashKey })).toBe(false);
  expect(await matchesArguments(hash, { pin: 1234 })).toBe(false);
  expect(await matchesArguments(hash, { pin: 1234 }, { hashKey: `${hashKey}0` })).toBe(false);
});

test('matches a plain hash for any order of properties', async () => {
  const hash = await hashArguments({ b: 1, a: [2] });
  expect(await matchesArguments(hash, { a: [2], b: 1 })).toBe(true);
  expect(await matchesArguments(hash, { a: [2], b: 1 }, { hashKey })).toBe(true);
  expect(await matchesArguments(hash, { a: [3], b: 1 })).toBe(false);
  expect(await matchesArguments('sha256:', {})).toBe(false);
});

test('rejects a short key', async () => {
  await expect(hashArguments({}, { hashKey: 'short' })).rejects.toThrow(/hashKey has 5 .* use at least 16/);
});
