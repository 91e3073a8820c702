import { expect, test } from 'vitest';
import { changeCallArguments, changeShownArguments, isSameJson } from './argument-changes.ts';
import { parseExactJson, parseJsonWithBigInts, stringifyExactJson } from './exact-json.ts';
import type { EditableArgument } from './schemas/policy.ts';

const requested = {
  amount: 900,
  to: 'ada',
  note: 'Thanks!',
  paths: ['a', 'b', 'b', ['c', { d: 1 }]],
  address: { city: 'Bonn', zip: 53113 },
  'address.city': 'dotted',
};

function change(limit: EditableArgument, value: unknown, shown: Record<string, unknown> = requested) {
  const changed = changeShownArguments(shown, [limit], { [limit.path]: value });
  return 'problem' in changed ? changed.problem.code : changed.arguments;
}

test.each([
  ['a smaller number', { path: 'amount', max: 500 }, 500, { amount: 500 }],
  ['a fraction', { path: 'amount', max: 500 }, 0.5, { amount: 0.5 }],
  ['zero', { path: 'amount', max: 500 }, 0, { amount: 0 }],
  [
    'a part of a list',
    { path: 'paths', subset: true },
    ['b', ['c', { d: 1 }]],
    { paths: ['b', ['c', { d: 1 }]] },
  ],
  ['an element twice if it was twice', { path: 'paths', subset: true }, ['b', 'b'], { paths: ['b', 'b'] }],
  ['a listed text', { path: 'to', oneOf: ['grace', 'alan'] }, 'alan', { to: 'alan' }],
  ['any text', { path: 'note', anyText: true }, 'Grüße 👋', { note: 'Grüße 👋' }],
  ['a nested value', { path: 'address.zip', min: 1 }, 1, { address: { city: 'Bonn', zip: 1 } }],
] as [string, EditableArgument, unknown, object][])('changes to %s', (_name, limit, value, changed) => {
  expect(change(limit, value)).toEqual({ ...requested, ...changed });
});

test.each([
  ['a number above the limit', { path: 'amount', max: 500 }, 501],
  ['a number above the requested one', { path: 'amount', max: 5000 }, 901],
  ['a negative number by default', { path: 'amount', max: 500 }, -1],
  ['a number as text', { path: 'amount', max: 500 }, '500'],
  ['null', { path: 'amount', max: 500 }, null],
  ['an empty list', { path: 'paths', subset: true }, []],
  ['an element that was not requested', { path: 'paths', subset: true }, ['a', 'x']],
  ['an element more often than requested', { path: 'paths', subset: true }, ['a', 'a']],
  ['another order', { path: 'paths', subset: true }, ['b', 'a']],
  ['a nested list with another element', { path: 'paths', subset: true }, [['c', { d: 2 }]]],
  ['an object with the same indexes as a list', { path: 'paths', subset: true }, { 0: 'a' }],
  ['a text that is not listed', { path: 'to', oneOf: ['grace'] }, 'Grace'],
  ['another Unicode form of a listed text', { path: 'to', oneOf: ['é'] }, 'e\u0301'],
  ['half of a surrogate pair', { path: 'note', anyText: true }, '\ud83d'],
  ['a very long text', { path: 'note', anyText: true }, 'x'.repeat(2001)],
  ['a number for a text', { path: 'note', anyText: true }, 5],
  ['a text for a number', { path: 'amount', anyText: true }, 'five'],
] as [string, EditableArgument, unknown][])('refuses %s', (_name, limit, value) => {
  expect(change(limit, value)).toBe('not_permitted');
});

test('refuses a path that is not editable, not shown, or the same as before', () => {
  const changed = changeShownArguments(requested, [{ path: 'amount', max: 500 }], { to: 'grace' });
  expect(changed).toMatchObject({ problem: { path: 'to', code: 'not_editable' } });
  expect(change({ path: 'missing', max: 5 }, 4)).toBe('not_shown');
  expect(change({ path: 'paths.0', anyText: true }, 'x')).toBe('not_shown');
  expect(change({ path: 'to.length', max: 1 }, 1)).toBe('not_shown');
  expect(change({ path: 'constructor.name', anyText: true }, 'x')).toBe('not_shown');
  expect(change({ path: 'amount', max: 900 }, 900)).toBe('unchanged');
});

test('replaces exactly the path, and leaves the requested arguments as they are', () => {
  const before = structuredClone(requested);
  const changed = changeCallArguments(requested, requested, { 'address.city': 'Köln' });
  expect(changed).toEqual({ arguments: { ...before, address: { city: 'Köln', zip: 53113 } } });
  expect(requested).toEqual(before);
});

test('compares and changes numbers beyond 2^53 by all their digits', () => {
  const json = '{"amount":1917043659912705297,"ids":[1917043659912705297,1917043659912705298]}';
  const shown = parseExactJson(json) as Record<string, unknown>;
  const real = parseJsonWithBigInts(json);
  const limit = { path: 'amount', min: 1 };
  const wanted = (digits: string) => (parseExactJson(`{"amount":${digits}}`) as { amount: unknown }).amount;
  expect(change(limit, wanted('1917043659912705298'), shown)).toBe('not_permitted');
  expect(change(limit, wanted('1917043659912705297'), shown)).toBe('unchanged');
  expect(stringifyExactJson(change(limit, wanted('1917043659912705296'), shown))).toContain(
    '"amount":1917043659912705296',
  );
  const part = parseExactJson('{"ids":[1917043659912705298]}') as { ids: unknown[] };
  expect(changeCallArguments(real, shown, part)).toEqual({
    arguments: { amount: 1917043659912705297n, ids: [1917043659912705298n] },
  });
  expect(changeCallArguments(real, shown, { amount: 5 })).toMatchObject({ arguments: { amount: 5n } });
  expect(changeCallArguments(real, shown, { amount: 0.5 })).toMatchObject({
    problem: { code: 'not_applicable' },
  });
});

test('does not apply a change to an argument that was shown differently', () => {
  for (const args of [{ cents: 900 }, { amount: '900' }, { amount: 901 }, '{"amount":900}', undefined]) {
    const changed = changeCallArguments(args, { amount: 900 }, { amount: 500 });
    expect(changed).toMatchObject({ problem: { path: 'amount', code: 'not_applicable' } });
  }
});

test('keeps a member named __proto__ as it is, and never changes it', () => {
  const args = JSON.parse('{"amount":900,"__proto__":{"amount":1}}') as object;
  const changed = changeCallArguments(args, { amount: 900 }, { amount: 500 });
  expect(JSON.stringify('arguments' in changed && changed.arguments)).toBe(
    '{"amount":500,"__proto__":{"amount":1}}',
  );
  expect(changeCallArguments(args, args, JSON.parse('{"__proto__.amount":0}'))).toMatchObject({
    problem: { code: 'not_applicable' },
  });
});

test('compares JSON by its values', () => {
  expect(isSameJson({ a: [1, { b: 2n }] }, { a: [1n, { b: 2 }] })).toBe(true);
  expect(isSameJson({ a: 1 }, { a: 1, b: undefined })).toBe(false);
  expect(isSameJson([], {})).toBe(false);
  expect(isSameJson(1, '1')).toBe(false);
  expect(isSameJson(new Date(0), new Date(1))).toBe(false);
});
