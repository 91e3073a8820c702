import { expect, test } from 'vitest';
import { href, parseRoute } from './route.ts';

test.each([
  ['', []],
  ['#/', []],
  ['#/sessions', ['sessions']],
  ['#/sessions/a%2Fb%3Fc', ['sessions', 'a/b?c']],
  ['#/sessions/%E0%A4%A', ['sessions', '%E0%A4%A']], // typed by hand
])('parses %s as %j', (hash, path) => {
  expect(parseRoute(hash).path).toEqual(path);
});

test.each([['a/b'], ['what?'], ['100%'], ['#'], ['<img>'], ['ü']])('the address of %s leads to it', (id) => {
  const address = href(['sessions', id], { agent: id, risk: '', status: undefined });
  const { path, query } = parseRoute(address);
  expect([path, [...query]]).toEqual([['sessions', id], [['agent', id]]]);
});
