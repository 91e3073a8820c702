import { expect, test } from 'vitest';
import { activityEvent, testServer } from './test-server.ts';

function codes(warnings: readonly { code: string }[]): string[] {
  return warnings.map(({ code }) => code);
}

test('acknowledges an event once it can be read back', async () => {
  const server = await testServer();
  const event = activityEvent();
  const ack = await server.ok('events.create', { body: event });
  expect(ack.eventId).toBe(event.eventId);
  const { events, ...session } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toEqual([{ ...event, receivedAt: ack.receivedAt }]);
  expect(session).toMatchObject({
    id: 'thread-1',
    agentId: 'billing-agent',
    agentIds: ['billing-agent'],
    startedAt: event.sourceTimestamp,
    lastEventAt: event.sourceTimestamp,
    eventCount: 1,
    errorCount: 0,
    toolNames: ['refund'],
    nextCursor: null,
  });
});

test('responds to the same event as the first time, and changes nothing', async () => {
  const server = await testServer();
  const event = activityEvent();
  const first = await server.ok('events.create', { body: event });
  const again = await server.ok('events.create', { body: event });
  expect(again).toEqual(first);
  expect((await server.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(1);
});

test('treats an eventId in upper and lower case as one, acknowledged as sent', async () => {
  const server = await testServer();
  const event = activityEvent({ eventId: 'a0b1c2d3-e4f5-4a6b-8c7d-9e0fa1b2c3d4' });
  const upper = { ...event, eventId: event.eventId.toUpperCase() };
  const first = await server.ok('events.create', { body: upper });
  expect(first.eventId).toBe(upper.eventId);
  expect(await server.ok('events.create', { body: event })).toEqual({ ...first, eventId: event.eventId });
  expect(await server.ok('events.create', { body: upper })).toEqual(first);
  const other = await server.ok('events.create', { body: { ...upper, sessionId: 'thread-2' } });
  expect(codes(other.warnings)).toContain('EVENT_ID_REUSED');
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toEqual([{ ...event, receivedAt: first.receivedAt }]);
});

test.each([
  ['another payload', { payload: { toolName: 'pay', argumentsHash: 'sha256:aa', responseStatus: 200 } }],
  ['another session', { sessionId: 'thread-2' }],
  ['another time', { sourceTimestamp: '2026-01-01T00:00:00Z' }],
])('warns about a reused eventId with %s, and changes nothing', async (_what, change) => {
  const server = await testServer();
  const event = activityEvent();
  await server.ok('events.create', { body: event });
  const ack = await server.ok('events.create', { body: { ...event, ...change } });
  expect(codes(ack.warnings)).toContain('EVENT_ID_REUSED');
  const { items } = await server.ok('sessions.list');
  expect(items.map(({ id, eventCount }) => [id, eventCount])).toEqual([['thread-1', 1]]);
});

test('stores one of many identical concurrent events', async () => {
  const server = await testServer();
  const event = activityEvent();
  const acks = await Promise.all(
    Array.from({ length: 30 }, () => server.ok('events.create', { body: event })),
  );
  expect(new Set(acks.map(({ receivedAt }) => receivedAt)).size).toBe(1);
  const session = await server.ok('sessions.get', { id: 'thread-1' });
  expect([session.eventCount, session.events.length]).toEqual([1, 1]);
});

test('stores and counts every one of many concurrent events', async () => {
  const server = await testServer();
  const sent = Array.from({ length: 200 }, (_, index) =>
    activityEvent({
      sessionId: `thread-${index % 3}`,
      agentId: `agent-${index % 2}`,
      payload: { toolName: `tool-${index % 60}`, argumentsHash: 'h', responseStatus: index % 2 ? 500 : 200 },
    }),
  );
  await Promise.all(sent.map((body) => server.ok('events.create', { body })));
  const { items } = await server.ok('sessions.list');
  expect(items.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(200);
  expect(items.reduce((sum, { errorCount }) => sum + errorCount, 0)).toBe(100);
  for (const { toolNames, agentIds } of items) {
    expect(toolNames.length).toBe(20);
    expect([...agentIds].sort()).toEqual(['agent-0', 'agent-1']);
  }
});

test('returns events oldest first by their own time, whatever the order of arrival', async () => {
  const server = await testServer();
  const times = ['2026-11-20T10:00:02Z', '2026-11-20T10:00:00Z', '2026-11-20T10:00:01Z'];
  await server.record(...times.map((sourceTimestamp) => ({ sourceTimestamp })));
  const session = await server.ok('sessions.get', { id: 'thread-1' });
  expect(session.events.map(({ sourceTimestamp }) => sourceTimestamp)).toEqual([...times].sort());
  expect(session.startedAt).toBe('2026-11-20T10:00:00.000Z');
  expect(session.lastEventAt).toBe('2026-11-20T10:00:02.000Z');
});

test.each([
  ['AGENT_NOT_REGISTERED', {}],
  ['TIMESTAMP_IN_FUTURE', { sourceTimestamp: '2199-01-01T00:00:00Z' }],
  ['TIMESTAMP_TOO_OLD', { sourceTimestamp: '2001-01-01T00:00:00Z' }],
  ['UNKNOWN_CATEGORY', { category: 'daydream', payload: {} }],
  ['UNKNOWN_SCHEMA_VERSION', { schemaVersion: '9.9' }],
])('returns the warning %s', async (code, fields) => {
  const server = await testServer();
  const { warnings } = await server.ok('events.create', { body: activityEvent(fields) });
  expect(codes(warnings)).toContain(code);
});

test("returns warnings only for a revoked agent or another agent's session", async () => {
  const server = await testServer();
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'Billing' } });
  const quiet = await server.ok('events.create', { body: activityEvent() });
  expect(quiet.warnings).toEqual([]);
  await server.ok('agents.create', { body: { id: 'other', name: 'Other' } });
  const elsewhere = await server.ok('events.create', { body: activityEvent({ agentId: 'other' }) });
  expect(codes(elsewhere.warnings)).toEqual(['SESSION_AGENT_MISMATCH']);
  await server.ok('agents.update', { id: 'billing-agent', body: { status: 'revoked' } });
  const revoked = await server.ok('events.create', { body: activityEvent() });
  expect(codes(revoked.warnings)).toEqual(['AGENT_REVOKED']);
});

test('returns payloads of other categories unchanged', async () => {
  const server = await testServer();
  const payload = {
    text: 'a\u0000b \ud83d\ude00',
    deep: { list: [1, 2.5, null, true, { '': [] }] },
    big: 1e21,
  };
  await server.record({ category: 'note', payload });
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[0]?.payload).toEqual(payload);
});

test('removes keys named __proto__, and stores the event with a warning', async () => {
  const server = await testServer();
  const body = JSON.stringify(activityEvent({ category: 'note', payload: { keep: 1 } })).replace(
    '"keep":1',
    '"keep":1,"__proto__":{"admin":true},"\\u005f_proto__":2',
  );
  const { warnings } = await server.ok('events.create', { body });
  expect(codes(warnings)).toContain('PROTO_KEYS_REMOVED');
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[0]?.payload).toEqual({ keep: 1 });
});

test.each([
  'guardian_decision',
  'guardian_decision ',
  'guardian_decision\u00a0',
  'guardian\u200b_decision',
  'Guardian_Decision',
])('refuses the reserved category %j', async (category) => {
  const server = await testServer();
  const body = activityEvent({ category, payload: {} });
  expect(await server.refused('events.create', { body })).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ path: 'category', code: 'reserved' }],
  });
});

test.each([
  [undefined, 'is missing; it must be an object'],
  [[], 'must be an object, not array'],
  [{ agentId: undefined }, 'is missing; it must be a string'],
  [{ category: 'note', payload: undefined }, 'must be an object'],
  [{ category: 'note', payload: [] }, 'must be an object'],
  [{ payload: { toolName: 'x', argumentsHash: 'y', responseStatus: 1.5 } }, 'must be a whole number'],
])('the event %j is refused with a message for callers', async (fields, message) => {
  const server = await testServer();
  const body = Array.isArray(fields) || !fields ? fields : { ...activityEvent(), ...fields };
  const { details } = await server.refused('events.create', { body });
  expect(details[0]?.message).toBe(message);
});

test('names each invalid field of an event, without its values', async () => {
  const server = await testServer();
  const body = { ...activityEvent(), eventId: 'secret-value', extra: 1, payload: { toolName: 5 } };
  const error = await server.refused('events.create', { body });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(error.details.map(({ path }) => path).sort()).toEqual([
    'eventId',
    'extra',
    'payload.argumentsHash',
    'payload.responseStatus',
    'payload.toolName',
  ]);
  expect(JSON.stringify(error)).not.toContain('secret-value');
});
