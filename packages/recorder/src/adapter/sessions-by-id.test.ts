import { expect, test } from 'vitest';
import { SessionsById } from './conversation/conversations.ts';

test('finds a session by id, also from another copy', () => {
  new SessionsById('@example/sessions').note('resp_1', 'first');
  expect(new SessionsById('@example/sessions').get('resp_1')).toBe('first');
  expect(new SessionsById('@example/other-sessions').get('resp_1')).toBeUndefined();
});

test('ignores missing ids and sessions', () => {
  const sessions = new SessionsById('@example/unknown');
  sessions.note(undefined, 'first');
  sessions.note('', 'first');
  sessions.note('resp_1', undefined);
  for (const id of [undefined, null, '', 'resp_1']) expect(sessions.get(id)).toBeUndefined();
});

test('forgets the oldest of many', () => {
  const sessions = new SessionsById('@example/many');
  for (let count = 0; count < 10_000; count += 1) sessions.note(`resp_${count}`, 'kept');
  sessions.note('resp_0', 'renewed');
  sessions.note('resp_new', 'kept');
  expect([sessions.get('resp_0'), sessions.get('resp_1'), sessions.get('resp_2')]).toEqual([
    'renewed',
    undefined,
    'kept',
  ]);
});
