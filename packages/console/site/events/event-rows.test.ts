import type { StoredEvent } from '@actlog/client';
import { expect, test } from 'vitest';
import { eventRows, isApart } from './event-rows.ts';

const call = (eventId: string): StoredEvent => ({
  eventId,
  category: 'tool_api',
  payload: { toolName: 'send_money', argumentsHash: 'sha256:aa', responseStatus: 200 },
});

const about = (
  callId: unknown,
  eventId: string,
  origins: unknown = { to: { from: 'user' } },
): StoredEvent => ({
  eventId,
  category: 'argument_origins',
  payload: { eventId: callId, toolName: 'send_money', origins },
});

/** Returns the id of each row, and of the event with its origins. */
function shown(...events: StoredEvent[]): string[] {
  return eventRows(events).map(({ event, origins }) => [event.eventId, origins?.eventId].join(' ').trim());
}

test('joins origins to their call, whichever comes first', () => {
  expect(shown(call('a'), about('a', 'b'), call('c'))).toEqual(['a b', 'c']);
  expect(shown(about('a', 'b'), call('c'), call('a'))).toEqual(['c', 'a b']);
});

test('joins an id in upper case', () => {
  expect(shown(call('ab'), about('AB', 'c'))).toEqual(['ab c']);
});

test('keeps a row for origins whose call is not among the events', () => {
  const rows = eventRows([call('a'), about('gone', 'b')]);
  expect(rows.map(isApart)).toEqual([false, true]);
  expect(rows[1]?.origins).toMatchObject({ callId: 'gone', origins: [{ path: 'to', kind: 'user' }] });
});

test('joins only the first event about a call', () => {
  expect(shown(call('a'), about('a', 'b'), about('a', 'c'))).toEqual(['a b', 'c c']);
});

test('joins to calls only', () => {
  expect(shown({ ...call('a'), category: 'llm_call' }, about('a', 'b'))).toEqual(['a', 'b b']);
  expect(shown(about('b', 'b'))).toEqual(['b b']);
});

test.each([
  ['no origins', about('a', 'b', null)],
  ['origins without a path', about('a', 'b', {})],
  ['an id that is no text', about(7, 'b')],
  ['another category', { ...about('a', 'b'), category: 'other' }],
  ['no payload', { eventId: 'b', category: 'argument_origins' }],
])('keeps a plain row for an event with %s', (_what, event) => {
  expect(shown(call('a'), event)).toEqual(['a', 'b']);
});

test('joins the subagent of a call to the call, and keeps a row for one whose call is missing', () => {
  const place = (callId: string, eventId: string): StoredEvent => ({
    eventId,
    category: 'subagent_call',
    payload: { eventId: callId, toolName: 'send_money', subagent: 'reviewer', parentAgentIds: ['root'] },
  });
  const rows = eventRows([place('A', 'b'), call('a'), about('a', 'c'), place('gone', 'd')]);
  expect(rows.map(({ event, place: found }) => [event.eventId, found?.subagent])).toEqual([
    ['a', 'reviewer'],
    ['d', undefined],
  ]);
  expect(rows[0]?.origins?.eventId).toBe('c');
});
