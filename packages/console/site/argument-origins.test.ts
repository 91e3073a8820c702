import { expect, test } from 'vitest';
import { originsSummary, originWords, type PathOrigin, readOrigins } from './argument-origins.ts';

const eventId = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

/** Returns what the page says about an origin, with the time in UTC. */
function sentence(origin: PathOrigin): string {
  const { path, toolName = 'a tool', calledAt } = origin;
  const { text, isReturned } = originWords(origin);
  const at = calledAt === undefined ? '' : ` at ${calledAt.toISOString().slice(11, 16)}`;
  return `${path}: ${text}${isReturned ? ` ${toolName} returned${at}` : ''}`;
}

function sentences(origins: unknown): string[] | undefined {
  return readOrigins(origins)?.map(sentence);
}

test('describes every source in words, least trusted first', () => {
  const origins = {
    amount: { from: 'user' },
    currency: { from: 'system' },
    account: { from: 'tool', as: 'field', toolName: 'get_contact', eventId },
    subject: { from: 'model' },
    note: { from: 'unknown' },
    recipient: { from: 'tool', as: 'text', toolName: 'read_file', eventId },
  };
  expect(sentences(origins)).toEqual([
    'recipient: from the text that read_file returned at 19:22',
    'note: not known (older texts were dropped from memory)',
    'subject: written by the model',
    'account: a field that get_contact returned at 19:22',
    'currency: from the system prompt',
    'amount: from what the user said',
  ]);
});

test('keeps the order of arguments with equal trust', () => {
  const origins = { to: { from: 'model' }, cc: { from: 'model' }, bcc: { from: 'model' } };
  expect(readOrigins(origins)?.map(({ path }) => path)).toEqual(['to', 'cc', 'bcc']);
});

test('names no time if the event id has none, and no tool if none is given', () => {
  const version4 = '919108f7-52d1-4320-9bac-f847db4148a8';
  expect(sentences({ a: { from: 'tool', as: 'text', toolName: 'read_file', eventId: version4 } })).toEqual([
    'a: from the text that read_file returned',
  ]);
  expect(sentences({ a: { from: 'tool', as: 'field' } })).toEqual(['a: a field that a tool returned']);
});

test('assumes no form and no source that it does not know', () => {
  expect(
    sentences({
      list: ['user'],
      no: null,
      text: 'user',
      later: { from: 'cache' },
      wrong: { from: 1, toolName: {}, eventId: [] },
      formless: { from: 'tool', as: 'prose', toolName: 7, eventId: 7 },
    }),
  ).toEqual([
    'formless: from what a tool returned',
    'list: not known to this page',
    'no: not known to this page',
    'text: not known to this page',
    'later: not known to this page',
    'wrong: not known to this page',
  ]);
});

test.each([undefined, null, 'user', 7, [{ from: 'user' }], {}])('reads no origins in %j', (origins) => {
  expect(readOrigins(origins)).toBeUndefined();
});

const text = { from: 'tool', as: 'text' };

test.each([
  ['Where 1 argument came from', { a: { from: 'user' } }],
  ['Where 2 arguments came from', { a: { from: 'model' }, b: { from: 'tool', as: 'field' } }],
  ['1 argument from a tool’s text', { a: text }],
  ['2 arguments from a tool’s text', { a: text, b: text }],
  ['1 of 3 arguments from a tool’s text', { a: { from: 'user' }, b: text, c: { from: 'unknown' } }],
])('summarizes as "%s"', (words, origins) => {
  expect(originsSummary(readOrigins(origins) ?? [])).toBe(words);
});
