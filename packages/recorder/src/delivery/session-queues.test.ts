import { expect, test } from 'vitest';
import { numberedEvent, numberOf } from '../../tests/journal-fixture.ts';
import { SessionQueues } from './session-queues.ts';

function filled(sessions: readonly string[], statuses: readonly number[] = []): SessionQueues {
  const queues = new SessionQueues();
  for (const [number, session] of sessions.entries()) {
    queues.push(numberedEvent(number, { session, status: statuses[number] ?? 200 }));
  }
  return queues;
}

test('sends one event per session at a time, in turns', () => {
  const queues = filled(['a', 'a', 'a', 'b', 'c']);
  const first = [queues.next(), queues.next(), queues.next()];
  expect(first.map((event) => event && numberOf(event))).toEqual([0, 3, 4]);
  expect(queues.next()).toBeUndefined();
  for (const event of first) if (event) queues.remove(event);
  expect(queues.next()).toMatchObject({ sessionId: 'a' });
  expect(queues.length).toBe(2);
});

test('sends a returned event first in its session, after other sessions', () => {
  const queues = filled(['a', 'a', 'b']);
  const event = queues.next();
  if (event) queues.putBack(event);
  expect([queues.next(), queues.next()].map((each) => each && numberOf(each))).toEqual([2, 0]);
});

test('never drops an event in flight, and important ones only on request', () => {
  const queues = filled(['a', 'a', 'b'], [200, 200, 500]);
  queues.next();
  const oldest = queues.oldest(false);
  expect(oldest && numberOf(oldest)).toBe(1);
  if (oldest) queues.remove(oldest);
  expect(queues.oldest(false)).toBeUndefined();
  expect(queues.oldest(true)).toMatchObject({ sessionId: 'b' });
});

test('gives the turn to the next event when the first is dropped', () => {
  const queues = filled(['a', 'a']);
  const oldest = queues.oldest(false);
  if (oldest) queues.remove(oldest);
  const next = queues.next();
  expect(next && numberOf(next)).toBe(1);
  if (next) queues.remove(next);
  expect([queues.length, queues.next()]).toEqual([0, undefined]);
});
