import { expect, test } from 'vitest';
import { eventRow, RecentEvents } from './event-log.ts';

function row(arrival: number, { sessionId = 'session', payload = {} } = {}) {
  const event = {
    eventId: `event-${arrival}`,
    agentId: 'agent',
    sessionId,
    sourceTimestamp: '2026-11-27T12:00:00.000Z',
    category: 'custom',
    schemaVersion: '1.0',
    payload,
  } as const;
  const stored = {
    tenantId: 1,
    sourceMs: 0,
    arrival,
    receivedMs: 0,
    stamp: 0,
    identity: null,
    traceparent: null,
  };
  return eventRow(event as never, stored);
}

function arrivals(rows: readonly { readonly arrival: number }[] | undefined): number[] | undefined {
  return rows?.map(({ arrival }) => arrival);
}

test('gives the events of a session once, in the order of their arrival', () => {
  const recent = new RecentEvents();
  for (const arrival of [1, 2, 3]) recent.add(row(arrival));
  recent.add(row(1, { sessionId: 'other' }));
  expect(arrivals(recent.take(1, { id: 'session', from: 0, to: 2 }))).toEqual([1, 2]);
  expect(arrivals(recent.take(1, { id: 'session', from: 2, to: 3 }))).toEqual([3]);
  expect(recent.take(1, { id: 'session', from: 2, to: 3 })).toBeUndefined();
  expect(arrivals(recent.take(1, { id: 'other', from: 0, to: 1 }))).toEqual([1]);
  expect(recent.take(2, { id: 'other', from: 0, to: 1 })).toBeUndefined();
});

test('gives nothing of a session of which an event is missing', () => {
  const recent = new RecentEvents();
  for (const arrival of [2, 4]) recent.add(row(arrival));
  expect(recent.take(1, { id: 'session', from: 1, to: 4 })).toBeUndefined();
});

test('gives no events that were logged before', () => {
  const recent = new RecentEvents();
  for (const arrival of [1, 2]) recent.add(row(arrival));
  expect(arrivals(recent.take(1, { id: 'session', from: 1, to: 2 }))).toEqual([2]);
});

test('has room again once events are taken, and takes no more than that', () => {
  const recent = new RecentEvents();
  const payload = { text: 'x'.repeat(1024 * 1024) };
  for (let arrival = 1; arrival <= 12; arrival += 1) recent.add(row(arrival, { payload }));
  expect(recent.take(1, { id: 'session', from: 0, to: 12 })).toBeUndefined();
  for (let arrival = 13; arrival <= 16; arrival += 1) recent.add(row(arrival, { payload }));
  expect(arrivals(recent.take(1, { id: 'session', from: 12, to: 16 }))).toEqual([13, 14, 15, 16]);
  recent.add(row(17));
  recent.clear();
  expect(recent.take(1, { id: 'session', from: 16, to: 17 })).toBeUndefined();
});
