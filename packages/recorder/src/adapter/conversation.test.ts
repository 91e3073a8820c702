import { expect, test } from 'vitest';
import { Session } from '../recording/session.ts';
import { conversationSession } from './conversation.ts';

const nowhere = { toolCall: () => Promise.reject(new Error('no')), record: () => '', noteText: () => {} };

test('keeps the session of a conversation when messages are added or instructions change', () => {
  const question = { role: 'user', content: 'go' };
  const session = conversationSession([question]);
  expect(session).toMatch(/^[0-9a-f-]{36}$/);
  expect(conversationSession([{ role: 'system' }, { role: 'developer' }, question, { role: 'user' }])).toBe(
    session,
  );
  expect(conversationSession([{ ...question }])).not.toBe(session);
});

test('prefers the surrounding session', () => {
  const question = { role: 'user' };
  expect(new Session('around', nowhere).run(() => conversationSession([question]))).toBe('around');
});

test('returns undefined without a message', () => {
  for (const messages of [undefined, [], [{ role: 'system' }], ['go'], [null]]) {
    expect(conversationSession(messages)).toBeUndefined();
  }
});
