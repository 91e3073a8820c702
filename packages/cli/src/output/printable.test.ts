import { expect, it } from 'vitest';
import { jsonText } from './format.ts';
import { printable, printableLines } from './printable.ts';

it.each([
  ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
  ['\u009b31m', '\\u009b31m'],
  ['a\r\nb\tc', 'a\\r\\nb\\tc'],
  ['safe\u202egnp.exe', 'safe\\u202egnp.exe'],
  ['\u2028\u200b\ufeff\u{e0041}', '\\u2028\\u200b\\ufeff\\udb40\\udc41'],
  ['\ud800', '\\ud800'],
  ['Grüße, 会議 👩', 'Grüße, 会議 👩'],
])('shows %j as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('keeps the line breaks of a text of several lines', () => {
  expect(printableLines('a\r\nb\u001b[2J\n')).toBe('a\nb\\u001b[2J\n');
});

it('escapes the same characters in JSON, which stays the same value', () => {
  const value = { 'k\u202e': ['\u001b\u009b', '\u200b', 'ü'] };
  const text = jsonText(value, 2);
  for (const character of ['\u001b', '\u009b', '\u202e', '\u200b']) expect(text).not.toContain(character);
  expect(JSON.parse(text)).toEqual(value);
});
