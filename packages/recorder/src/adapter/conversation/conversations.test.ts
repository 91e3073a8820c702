import { expect, test } from 'vitest';
import { formats } from '../../../tests/message-formats.ts';
import { RecorderSession } from '../../recording/recorder-session.ts';
import { Conversations } from './conversations.ts';

const nowhere = { toolCall: () => Promise.reject(new Error('no')), record: () => '', noteText: () => {} };
const uuid = /^[0-9a-f-]{36}$/;
const uniqueId = 'call_q8ZkT3v9XwJr2LmB5NdYc7Hs';

/** Returns messages as a store or a request would give them back. */
function rebuilt<Value>(messages: Value): Value {
  return JSON.parse(JSON.stringify(messages)) as Value;
}

test('keeps the session of a turn when messages are added or instructions change', () => {
  const conversations = new Conversations({});
  const question = { role: 'user', content: 'go' };
  const session = conversations.sessionOf([question]);
  expect(session).toMatch(uuid);
  const later = [
    { role: 'system' },
    { role: 'developer' },
    question,
    { role: 'assistant', content: 'Well.' },
  ];
  expect(conversations.sessionOf(later)).toBe(session);
  expect(conversations.sessionOf([{ ...question }])).not.toBe(session);
});

test('prefers the surrounding session', () => {
  const conversations = new Conversations({});
  const messages = [{ role: 'user', content: 'go' }];
  const session = new RecorderSession('around', nowhere);
  expect(session.run(() => conversations.sessionOf(messages, () => 'own'))).toBe('around');
});

test('uses an id of the framework for the turn', () => {
  const conversations = new Conversations({});
  const messages = [{ role: 'user', content: 'go' }];
  expect(conversations.sessionOf(messages, () => 'run-1')).toBe('run-1');
  expect(conversations.sessionOf(messages, () => 'run-2')).toBe('run-1');
  expect(conversations.sessionOf('go', () => 'run-3')).toBe('run-3');
});

test('starts new ids with the name of the agent', () => {
  const conversations = new Conversations({}, { agentId: 'support' });
  expect(conversations.sessionOf([{ role: 'user', content: 'go' }])).toMatch(/^support-[0-9a-f-]{36}$/);
});

test('returns undefined without a message', () => {
  const conversations = new Conversations({});
  for (const messages of [undefined, [], [{ role: 'system' }], ['go'], [null], 'go']) {
    expect(conversations.sessionOf(messages)).toBeUndefined();
  }
});

const next = { role: 'user', content: 'and now' };

test.each(Object.entries(formats))('recognizes a rebuilt conversation by its calls in %s', (_name, of) => {
  for (const id of [uniqueId, 'call_1']) {
    const conversations = new Conversations({});
    const messages = of(id);
    const session = conversations.sessionOf(messages.slice(0, 1));
    conversations.note(messages.slice(0, 1), { toolName: 'echo', callId: id }, session);
    expect(conversations.sessionOf(rebuilt(messages))).toBe(session);
    const turn = rebuilt([...messages, { role: 'assistant', content: 'Done.' }, next]);
    expect(conversations.sessionOf(turn)).toBe(session);
    expect(conversations.sessionOf(rebuilt([...of(`${id}9`), next]))).not.toBe(session);
  }
});

test('recognizes a conversation that started with a text, and in another format', () => {
  const conversations = new Conversations({});
  for (const callId of [uniqueId, 'call_1']) {
    conversations.note('go', { toolName: 'echo', callId }, `session of ${callId}`);
    for (const [name, of] of Object.entries(formats)) {
      expect(conversations.sessionOf([...of(callId), next]), name).toBe(`session of ${callId}`);
    }
  }
});

test('recognizes calls without ids by their tool and what the user wrote before', () => {
  const conversations = new Conversations({});
  const turn = formats.Genkit?.(undefined) ?? [];
  conversations.note(turn.slice(0, 1), { toolName: 'echo', callId: undefined }, 'own');
  expect(conversations.sessionOf(rebuilt([...turn, next]))).toBe('own');
  expect(conversations.sessionOf(rebuilt([{ role: 'user', content: 'Hello' }, ...turn, next]))).not.toBe(
    'own',
  );
});

test('does not put two people into one session when a cached response repeats the id of a call', () => {
  const conversations = new Conversations({});
  for (const of of Object.values(formats)) {
    const messages = of(uniqueId);
    const call = { toolName: 'echo', callId: uniqueId };
    const asked = messages.slice(0, 1);
    const first = conversations.sessionOf(asked);
    conversations.note(asked, call, first);
    // The response with the call, before the call is made.
    const second = conversations.sessionOf(rebuilt(messages.slice(0, 2)));
    expect(second).not.toBe(first);
    conversations.note(asked, call, second);
    expect(conversations.sessionOf(rebuilt([...messages, next]))).not.toBe(first);
  }
});

test('a unique id is enough when the start of the conversation was cut off', () => {
  const conversations = new Conversations({});
  const messages = formats['the Messages API']?.(uniqueId) ?? [];
  conversations.note(messages.slice(0, 1), { toolName: 'echo', callId: uniqueId }, 'own');
  expect(conversations.sessionOf(rebuilt([...messages.slice(1), next]))).toBe('own');
});

test('does not put two conversations into one session when the model numbers its calls', () => {
  const conversations = new Conversations({});
  const messages = formats['chat completions']?.('functions.echo:0') ?? [];
  const call = { toolName: 'echo', callId: 'functions.echo:0' };
  conversations.note(messages.slice(0, 1), call, 'first');
  expect(conversations.sessionOf(rebuilt([...messages, next]))).toBe('first');
  conversations.note(messages.slice(0, 1), call, 'second');
  const either = conversations.sessionOf(rebuilt([...messages, next]));
  expect(['first', 'second']).not.toContain(either);
});

test('tells such conversations apart when one of them has gone on', () => {
  const conversations = new Conversations({});
  const messages = formats['chat completions']?.('call_1') ?? [];
  const call = { toolName: 'echo', callId: 'call_1' };
  conversations.note(messages.slice(0, 1), call, 'first');
  conversations.note([...messages, next], { toolName: 'echo', callId: 'call_2' }, 'first');
  conversations.note(messages.slice(0, 1), call, 'second');
  expect(conversations.sessionOf(rebuilt([...messages, next]))).toBe('second');
});

test('tells such conversations apart while their first messages are the same objects', () => {
  const conversations = new Conversations({});
  const chats = ['first', 'second'].map((name) => {
    const messages = formats['chat completions']?.('call_1') ?? [];
    const session = conversations.sessionOf(messages.slice(0, 1), () => name);
    conversations.note(messages.slice(0, 1), { toolName: 'echo', callId: 'call_1' }, session);
    return messages;
  });
  const sessions = chats.map((messages) => conversations.sessionOf([...messages, { ...next }]));
  expect(sessions).toEqual(['first', 'second']);
});

test('does not take a call that is being made for one of a conversation with the same words', () => {
  for (const [format, of] of Object.entries(formats)) {
    if (format.startsWith('UI') || format === 'Mastra') continue; // calls and results share a message
    const conversations = new Conversations({});
    const [question, call] = of('call_1');
    conversations.note([question], { toolName: 'echo', callId: 'call_1' }, 'first');
    expect(conversations.sessionOf(rebuilt([question, call])), format).not.toBe('first');
  }
});

test('examples in the messages are not taken for calls of the conversation', () => {
  const conversations = new Conversations({});
  const examples = formats['chat completions']?.(uniqueId) ?? [];
  const sessions = [1, 2].map((chat) => {
    const messages = [...examples, { role: 'user', content: `chat ${chat}` }];
    const session = conversations.sessionOf(messages);
    conversations.note(messages, { toolName: 'echo', callId: `call_${chat}ZkT3v9XwJr2LmB5NdYc7Hs` }, session);
    return session;
  });
  expect(new Set(sessions).size).toBe(2);
});

test("keeps conversations of different recorders apart, and nobody's words", () => {
  const [one, other] = [{}, {}];
  const messages = formats['chat completions']?.('call_1') ?? [];
  new Conversations(one).note(messages.slice(0, 1), { toolName: 'echo', callId: 'call_1' }, 'of one');
  expect(new Conversations(other).sessionOf(rebuilt([...messages, next]))).toMatch(uuid);
});

test('keeps the session of messages without calls while the first is the same object', () => {
  const conversations = new Conversations({});
  const question = { role: 'user', content: 'go' };
  const session = conversations.sessionOf([question]);
  const reply = { role: 'assistant', content: 'Done.' };
  expect(conversations.sessionOf([question, reply, { ...next }])).toBe(session);
});

test('the same object of a turn in two conversations makes two sessions', () => {
  const conversations = new Conversations({});
  const sessions = ['first', 'second'].map((content) =>
    conversations.sessionOf([{ role: 'user', content }, { role: 'assistant', content: 'Yes?' }, next]),
  );
  expect(new Set(sessions).size).toBe(2);
});

test('does not put two chats into one session that start with the same greeting or examples', () => {
  const greeting = { role: 'assistant', content: 'How can I help?' };
  const examples = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!' },
  ];
  for (const start of [[greeting], examples]) {
    const conversations = new Conversations({});
    const chats = ['first', 'second'].map((content) => [...start, { role: 'user', content }]);
    const [first, second] = chats.map((messages) => conversations.sessionOf(messages));
    expect(second).not.toBe(first);
    const later = [...(chats[0] ?? []), { role: 'assistant', content: 'Done.' }, { ...next }];
    expect(conversations.sessionOf(later)).toBe(first);
  }
});

test('keeps the session of messages without calls when turns in between had no session', () => {
  const conversations = new Conversations({});
  const messages = [{ role: 'user', content: 'go' }];
  const session = conversations.sessionOf(messages);
  const later = [...messages, { role: 'assistant', content: 'Done.' }, { ...next }, { ...next }, { ...next }];
  expect(conversations.sessionOf(later)).toBe(session);
  expect(conversations.sessionOf(later.slice(2))).toBe(session);
});

test('messages that cannot be read have the own id of the framework, or none', () => {
  const conversations = new Conversations({});
  const unreadable = {
    get role(): string {
      throw new Error('unreadable');
    },
  };
  expect(conversations.sessionOf([unreadable], () => 'run-1')).toBe('run-1');
  expect(conversations.sessionOf([unreadable])).toBeUndefined();
  conversations.note([unreadable], { toolName: 'echo', callId: 'call_1' }, 'own');
});
