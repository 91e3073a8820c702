import { expect, test } from 'vitest';
import { numberedEvent, numberOf } from '../../tests/journal-fixture.ts';
import { SessionLanes } from './session-lanes.ts';

function filled(sessions: readonly string[], statuses: readonly number[] = []): SessionLanes {
  const lanes = new SessionLanes();
  for (const [number, session] of sessions.entries()) {
    lanes.push(numberedEvent(number, { session, status: statuses[number] ?? 200 }));
  }
  return lanes;
}

test('one event of a session is in flight, and sessions take turns', () => {
  const lanes = filled(['a', 'a', 'a', 'b', 'c']);
  const first = [lanes.next(), lanes.next(), lanes.next()];
  expect(first.map((event) => event && numberOf(event))).toEqual([0, 3, 4]);
  expect(lanes.next()).toBeUndefined();
  for (const event of first) if (event) lanes.remove(event);
  expect(lanes.next()).toMatchObject({ sessionId: 'a' });
  expect(lanes.length).toBe(2);
});

test('an event that was put back goes first in its session, behind other sessions', () => {
  const lanes = filled(['a', 'a', 'b']);
  const event = lanes.next();
  if (event) lanes.putBack(event);
  expect([lanes.next(), lanes.next()].map((each) => each && numberOf(each))).toEqual([2, 0]);
});

test('the oldest to drop is never one in flight, and important ones are asked for', () => {
  const lanes = filled(['a', 'a', 'b'], [200, 200, 500]);
  lanes.next();
  const oldest = lanes.oldest(false);
  expect(oldest && numberOf(oldest)).toBe(1);
  if (oldest) lanes.remove(oldest);
  expect(lanes.oldest(false)).toBeUndefined();
  expect(lanes.oldest(true)).toMatchObject({ sessionId: 'b' });
});

test('dropping the first of a session that is not in flight lets the next take its turn', () => {
  const lanes = filled(['a', 'a']);
  const oldest = lanes.oldest(false);
  if (oldest) lanes.remove(oldest);
  const next = lanes.next();
  expect(next && numberOf(next)).toBe(1);
  if (next) lanes.remove(next);
  expect([lanes.length, lanes.next()]).toEqual([0, undefined]);
});
