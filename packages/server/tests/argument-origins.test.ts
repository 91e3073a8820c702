import { randomUUID } from 'node:crypto';
import type { ArgumentOrigins } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { atTestEnd } from './test-end.ts';
import { activityEvent, checkBody, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const eventId = randomUUID();
const fromText = { from: 'tool', as: 'text', toolName: 'read_file', eventId } as const;

/** Returns an action with these origins; without any if omitted. */
function action(origins?: ArgumentOrigins) {
  return { toolName: 'refund', argumentsHash: 'sha256:aa', ...(origins && { origins }) };
}

test('holds only the action whose argument came out of a text that a tool returned', async () => {
  const server = await testServer();
  const { id } = await server.policy({
    effect: 'require_approval',
    condition: 'origins.recipient.from == "tool" && origins.recipient.as == "text"',
  });
  const decisionFor = async (origins: ArgumentOrigins) =>
    (await server.check({ action: action(origins) })).decision;
  expect(await decisionFor({ recipient: { from: 'user' } })).toBe('allow');
  expect(await decisionFor({ recipient: { from: 'tool', as: 'field' } })).toBe('allow');
  const response = await server.check({ action: action({ recipient: fromText }) });
  expect(response).toMatchObject({ decision: 'require_approval', decidedBy: id });
  expect(response.matched).toMatchObject([{ why: 'the condition holds' }]);
});

test('treats a condition on origins as met when the check has none, and says what to do', async () => {
  const server = await testServer();
  const condition = 'origins.any("tool", "text")';
  await server.policy({ effect: 'deny', condition });
  await server.policy({ effect: 'allow', condition });
  const { decision, matched } = await server.check();
  expect(decision).toBe('deny');
  expect(matched.map(({ why }) => why)).toEqual([
    'the condition cannot be evaluated (the check has no argument origins: turn on `origins` in the recorder), which counts as a match',
  ]);
  expect((await server.check({ action: action({}) })).decision).toBe('allow');
});

test('returns the origins with the held action, in the list and to webhooks', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  atTestEnd(() => receiver.close());
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const events = ['guardian.action_pending', 'guardian.action_decided'];
  await server.ok('notificationChannels.create', { body: { url, events } });
  await server.policy({ effect: 'require_approval' });
  const held = action({ recipient: fromText, 'address.city': { from: 'model' } });
  const { pendingActionId } = await server.check({ action: held });
  const { items } = await server.ok('guardian.pendingActions.list');
  expect(items.map((item) => item.action)).toEqual([held]);
  const decided = await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  expect(decided.action).toEqual(held);
  const messages = await receiver.received(2);
  expect(messages.map(({ body }) => body.data.action)).toEqual([held, held]);
});

test('does not bind an approval to origins, and keeps those of the first check', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  for (const actionId of [undefined, 'call-1']) {
    const sessionId = `session ${actionId}`;
    const check = (origins?: ArgumentOrigins) =>
      server.check({ actionId, sessionId, action: action(origins) });
    const first = await check({ recipient: fromText });
    for (const origins of [undefined, { recipient: { from: 'user' as const } }]) {
      expect((await check(origins)).pendingActionId).toBe(first.pendingActionId);
    }
    const { items } = await server.ok('guardian.pendingActions.list', { query: { sessionId } });
    expect(items.map((item) => item.action.origins)).toEqual([{ recipient: fromText }]);
  }
});

test('counts origins as bytes of the held action', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const held = action({ recipient: fromText, ['é'.repeat(200)]: { from: 'user' } });
  await server.check({ action: held });
  const { used } = (await server.server.admin.tenants.quota(server.tenant)).heldActionBytes;
  expect(used).toBe(Buffer.byteLength(JSON.stringify(held)));
});

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`list.${index}`, { from: 'model' }]));

test.each([
  ['an unknown source', { to: { from: 'web' } }, 'action.origins.to.from'],
  ['an unknown form', { to: { from: 'tool', as: 'prose' } }, 'action.origins.to.as'],
  ['a form that no tool has', { to: { from: 'user', as: 'text' } }, 'action.origins.to.as'],
  ['a tool that is not the source', { to: { from: 'model', toolName: 'a' } }, 'action.origins.to.toolName'],
  ['an event that is not the source', { to: { from: 'user', eventId } }, 'action.origins.to.eventId'],
  ['an event id that is not a UUID', { to: { from: 'tool', eventId: '1' } }, 'action.origins.to.eventId'],
  ['a value', { to: { from: 'user', value: 'DE89' } }, 'action.origins.to.value'],
  ['a path that is too long', { ['a'.repeat(201)]: { from: 'user' } }, `action.origins.${'a'.repeat(201)}`],
  ['too many paths', many(65), 'action.origins'],
])('refuses origins with %s, and names the field', async (_what, origins, path) => {
  const server = await testServer();
  const error = await server.refused('policies.check', {
    body: { ...checkBody(), action: { ...action(), origins } },
  });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(error.details.map((detail) => detail.path)).toEqual([path]);
});

test('accepts as many paths as the limit, each as long as the limit', async () => {
  const server = await testServer();
  const paths = Array.from({ length: 64 }, (_, index) => `${index}`.padEnd(200, 'é'));
  const origins = Object.fromEntries(paths.map((path) => [path, fromText]));
  expect((await server.check({ action: action(origins) })).decision).toBe('allow');
});

test('stores an event of origins unchanged and without a warning about its category', async () => {
  const server = await testServer();
  const payload = { eventId, toolName: 'refund', origins: { recipient: fromText } };
  const body = activityEvent({ category: 'argument_origins', payload });
  const { warnings } = await server.ok('events.create', { body });
  expect(warnings.map(({ code }) => code)).toEqual(['AGENT_NOT_REGISTERED']);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toMatchObject([{ category: 'argument_origins', payload }]);
});

test('raises the risk of a session whose payment a text aimed', async () => {
  const server = await testServer();
  const record = async (sessionId: string, recipient: ArgumentOrigins[string]) => {
    const call = async (toolName: string, sourceTimestamp: string) => {
      const payload = { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 };
      const body = activityEvent({ sessionId, sourceTimestamp, payload });
      await server.ok('events.create', { body });
      return body.eventId;
    };
    await call('read_file', '2026-11-20T10:00:00.000Z');
    const payment = await call('send_money', '2026-11-20T10:00:05.000Z');
    const payload = { eventId: payment, toolName: 'send_money', origins: { recipient } };
    const about = { category: 'argument_origins', sourceTimestamp: '2026-11-20T10:00:05.000Z', payload };
    await server.ok('events.create', { body: activityEvent({ sessionId, ...about }) });
    return payment;
  };
  const payment = await record('aimed', fromText);
  await record('named', { from: 'user' });
  const aimed = await server.ok('sessions.risk', { id: 'aimed' });
  const named = await server.ok('sessions.risk', { id: 'named' });
  expect(aimed.factors[0]).toMatchObject({
    ruleId: 'goal.foreign-arguments',
    evidence: { eventIds: [payment], count: 1 },
  });
  expect(named.factors.map(({ ruleId }) => ruleId)).not.toContain('goal.foreign-arguments');
  expect(aimed.score).toBeGreaterThan(named.score);
});

test('refuses a tool call with origins: its payload has three fields', async () => {
  const server = await testServer();
  const { payload } = activityEvent();
  const body = activityEvent({ payload: { ...payload, origins: { recipient: fromText } } });
  const error = await server.refused('events.create', { body });
  expect(error.details).toMatchObject([{ path: 'payload.origins', code: 'unrecognized_key' }]);
});

test('refuses a condition that reads an origin another way, and says how', async () => {
  const server = await testServer();
  const refused = (condition: string) =>
    server.refused('policies.create', { body: { name: 'p', effect: 'deny', condition } });
  expect((await refused('args.any("tool")')).message).toContain('any() is only available on origins');
  expect((await refused('origins.to.source == "tool"')).message).toContain('No such key: source');
});
