import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { runInNewContext, runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { canonicalSlices } from './arguments-hash.ts';

function canonical(value: unknown): string {
  return [...canonicalSlices(value)].join('');
}

function form(fields: Record<string, string | Blob>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value as string);
  return made;
}

class Point {
  x = 1;
  readonly #hidden = 2;
  get sum(): number {
    return this.x + this.#hidden;
  }
}

const circular: Record<string, unknown> = { name: 'a' };
circular.self = circular;
circular.list = [circular, new Map([['self', circular]])];

const throwing = {
  fine: 1,
  get broken(): never {
    throw new Error('secret');
  },
};

const revoked = Proxy.revocable({}, {});
revoked.revoke();

test.each<[string, unknown, string]>([
  ['undefined alone', undefined, 'null'],
  ['a function alone', () => 1, 'null'],
  [
    'undefined, functions and symbols inside',
    { a: undefined, b: () => 1, c: Symbol('c'), d: [undefined, Symbol('e')] },
    '{"d":[null,null]}',
  ],
  ['an array of holes', new Array(2), '[null,null]'],
  [
    'an empty object next to omitted values',
    { a: { b: undefined, c: 1n } },
    '{"a":{"c":{"$type":"BigInt","value":"1"}}}',
  ],
  ['an object of which nothing is left', { a: () => 1 }, '{}'],
  [
    'numbers that JSON lacks',
    [Number.NaN, -Infinity, -0],
    '[{"$type":"Number","value":"NaN"},{"$type":"Number","value":"-Infinity"},0]',
  ],
  ['a BigInt', 12345678901234567890n, '{"$type":"BigInt","value":"12345678901234567890"}'],
  ['a lone surrogate', { 'a\ud800': 'b\udc00' }, '{"a\ufffd":"b\ufffd"}'],
  ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['an invalid Date', new Date(Number.NaN), 'null'],
  ['a URL', { url: new URL('https://example.com/a') }, '{"url":"https://example.com/a"}'],
  [
    'toJSON that returns itself',
    {
      toJSON() {
        return this;
      },
      a: 1,
    },
    '{"a":1}',
  ],
  [
    'toJSON that throws',
    {
      a: {
        toJSON() {
          throw new Error('secret');
        },
      },
    },
    '{"a":{"$type":"Unreadable"}}',
  ],
  ['toJSON that returns nothing', { a: { toJSON: () => undefined }, b: 1 }, '{"b":1}'],
  [
    'boxed primitives',
    [Object(1), Object('a'), Object(true), Object(1n)],
    '[1,"a",true,{"$type":"BigInt","value":"1"}]',
  ],
  [
    'a Map',
    new Map<unknown, unknown>([
      ['b', 1],
      ['a', undefined],
    ]),
    '{"$type":"Map","entries":[["b",1],["a",null]]}',
  ],
  ['a Set', new Set([2, 1n]), '{"$type":"Set","values":[2,{"$type":"BigInt","value":"1"}]}'],
  [
    'a query',
    { query: new URLSearchParams('b=1&a=2') },
    '{"query":{"$type":"URLSearchParams","entries":[["b","1"],["a","2"]]}}',
  ],
  ['headers', new Headers({ accept: '*/*' }), '{"$type":"Headers","entries":[["accept","*/*"]]}'],
  [
    'a form',
    form({ name: 'a', file: new Blob(['abc']) }),
    '{"$type":"FormData","entries":[["name","a"],["file",{"$type":"Blob","size":3,"type":""}]]}',
  ],
  ['what calls itself a list', { [Symbol.toStringTag]: 'Headers', a: 1 }, '{"a":1}'],
  ['an Error', new TypeError('bad'), '{"$type":"Error","message":"bad","name":"TypeError"}'],
  ['a RegExp', /a+/g, '{"$type":"RegExp","value":"/a+/g"}'],
  ['a Blob', new Blob(['abc'], { type: 'text/plain' }), '{"$type":"Blob","size":3,"type":"text/plain"}'],
  ['a stream', { body: Readable.from(['a']) }, '{"body":{"$type":"Stream"}}'],
  ['a web stream', new ReadableStream(), '{"$type":"Stream"}'],
  ['a class instance', new Point(), '{"x":1}'],
  ['an object without prototype', Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
  ['a property named __proto__', JSON.parse('{"__proto__":{"a":1},"b":2}'), '{"__proto__":{"a":1},"b":2}'],
  [
    'a container inside itself',
    circular,
    '{"list":[{"$type":"Cycle"},{"$type":"Map","entries":[["self",{"$type":"Cycle"}]]}],"name":"a","self":{"$type":"Cycle"}}',
  ],
  ['a property that throws', throwing, '{"broken":{"$type":"Unreadable"},"fine":1}'],
  ['a revoked proxy', { a: revoked.proxy }, '{"a":{"$type":"Unreadable"}}'],
])('%s', (_name, value, expected) => {
  expect(canonical(value)).toBe(expected);
});

test.each([
  'new Map([["a", new Set([1])]])',
  'new TypeError("bad")',
  '/a+/g',
  '[Object(1), Object("a"), Object(true), Object(1n)]',
  'new Uint8Array([1, 2])',
  'new Uint8Array([1, 2]).buffer',
  'new Date(0)',
])('treats %s of another realm like one of this', (code) => {
  expect(canonical(runInNewContext(code))).toBe(canonical(runInThisContext(code)));
});

test('does not treat a repeated object as a cycle', () => {
  const part = { a: 1n };
  expect(canonical([part, part])).toBe(
    '[{"a":{"$type":"BigInt","value":"1"}},{"a":{"$type":"BigInt","value":"1"}}]',
  );
});

test('hashes bytes as bytes, for any class', () => {
  const bytes = Buffer.from('abc');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const expected = (type: string) => `{"$type":"${type}","byteLength":3,"sha256":"${sha256}"}`;
  expect(canonical(bytes)).toBe(expected('Uint8Array'));
  expect(canonical(new Uint8Array(bytes))).toBe(expected('Uint8Array'));
  expect(canonical(new Uint8Array(bytes).buffer)).toBe(expected('ArrayBuffer'));
  expect(canonical(new DataView(new Uint8Array(bytes).buffer))).toBe(expected('DataView'));
});

test('replaces values deeper than 512 levels', () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(canonical(deep)).toBe(`${'['.repeat(512)}{"$type":"TooDeep"}${']'.repeat(512)}`);
});

test('hashes a string of 100 MB in slices', () => {
  let longest = 0;
  let total = 0;
  for (const slice of canonicalSlices({ text: 'x'.repeat(100_000_000) })) {
    longest = Math.max(longest, slice.length);
    total += slice.length;
  }
  expect(longest).toBeLessThan(100_000);
  expect(total).toBe(100_000_011);
});

test.each([
  ['holes', new Array(100_000), 'null'],
  ['numbers', new Array(100_000).fill(0.5), '0.5'],
])('batches a long list of %s', (_name, list, element) => {
  const slices = [...canonicalSlices({ list })];
  expect(slices.length).toBeLessThan(2_000);
  expect(slices.join('')).toBe(`{"list":[${`${element},`.repeat(99_999)}${element}]}`);
});

test('leaves the neighbors of special values in a long list unchanged', () => {
  const list = Array.from({ length: 1_000 }, (_, index) => (index % 300 === 0 ? 1n : index));
  const expected = list.map((element) =>
    typeof element === 'bigint' ? '{"$type":"BigInt","value":"1"}' : String(element),
  );
  expect(canonical(list)).toBe(`[${expected.join(',')}]`);
});
