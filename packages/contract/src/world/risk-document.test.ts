import { expect, it } from 'vitest';
import { dimensionsOf, explanationFault, hasScoreOfItsOwn } from '../checks/risk.ts';

const ids = Array.from({ length: 10 }, (_, index) => `D${index}`);
const list = ids.map((id) => ({ id, name: id, score: 1 }));
const named = Object.fromEntries(ids.map((id) => [id, { points: 1 }]));
const flat = Object.fromEntries(ids.map((id) => [id, 1]));
const explained = { factors: [], recommendations: [] };

it.each([
  ['a list of records', { score: 3, dimensions: list, ...explained }],
  ['records by name', { overall: 3, areas: named, why: ['it was quiet'], todo: ['nothing'] }],
  ['numbers by name', { risk: { value: 3, parts: flat }, notes: 'it was quiet', hints: ['wait'] }],
  ['numbers side by side', { total: 3, ...flat, ...explained }],
  ['records side by side', { summary: { value: 3 }, ...named, ...explained }],
  ['explained dimensions', { score: 3, of: list.map((one) => ({ ...one, why: 'a', todo: 'b' })) }],
  ['unnamed explanations', { score: 3, of: list, blurb: ['a'], tips: ['b'] }],
])('accepts %s', (_form, risk) => {
  expect(dimensionsOf(risk)?.entries).toHaveLength(10);
  expect(hasScoreOfItsOwn(risk)).toBe(true);
  expect(explanationFault(risk, 'factors')).toBeUndefined();
  expect(explanationFault(risk, 'recommendations')).toBeUndefined();
});

it.each([
  ['nine', { dimensions: list.slice(1) }],
  ['eleven', { dimensions: [...list, { id: 'D10', name: 'D10', score: 1 }] }],
  ['one twice', { dimensions: [...list.slice(1), list[1]] }],
  ['nine by name', { areas: { ...named, D0: undefined } }],
  ['none', { factors: ids }],
])('finds no ten dimensions in a result with %s', (_what, risk) => {
  expect(dimensionsOf(JSON.parse(JSON.stringify(risk)))).toBeUndefined();
});

it.each([
  ['counts only', { eventCount: 12, dimensions: list }],
  ['a text as the score', { score: '12', dimensions: list }],
  ['no number', { dimensions: list }],
])('finds no score of the session in a result with %s', (_what, risk) => {
  expect(hasScoreOfItsOwn(risk)).toBe(false);
});

it.each([
  ['recommendations', { score: 1, dimensions: list, factors: [], computedAt: 'now', engineVersion: '1' }],
  ['recommendations', { score: 1, dimensions: list, factors: [], recommendations: null }],
  ['recommendations', { score: 1, dimensions: list, factors: [], of: '12 events', engine: 'v1' }],
  ['recommendations', { overall: 1, areas: named, why: ['it was quiet'] }],
  ['factors', { score: 1, dimensions: list, recommendations: [] }],
  ['factors', { overall: 1, areas: named, todo: ['nothing'] }],
] as const)('finds no %s in a result without them', (what, risk) => {
  expect(explanationFault(risk, what)).toMatch(`could be its ${what}`);
});
