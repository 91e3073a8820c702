import type { PolicyDecisionPage } from '@actlog/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../src/index.ts';
import { logged } from './evidence/logged-records.ts';
import { sendTraces, toolSpanJson, traceRequest } from './otlp/trace-request.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const other = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function decisions(server: TestServer): Promise<PolicyDecisionPage['items']> {
  const response = await fetch(new URL('/server/v1/decisions', server.server.url), {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  return ((await response.json()) as PolicyDecisionPage).items;
}

test('keeps the trace of a call with its event, in lists, exports and the log', async () => {
  const server = await testServer();
  const event = activityEvent();
  await server.ok('events.create', { body: event, headers: { 'x-actlog-traceparent': traceparent } });
  // A repeat changes nothing.
  await server.ok('events.create', { body: event, headers: { 'x-actlog-traceparent': other } });
  const { events } = await server.ok('sessions.get', { id: event.sessionId });
  expect(events).toMatchObject([{ eventId: event.eventId, traceparent }]);
  const exported = await server.ok('sessions.export', { id: event.sessionId });
  expect(JSON.stringify(exported)).toContain(traceparent);
  const records = await logged(server, 'event', 1);
  expect(records.find(({ kind }) => kind === 'event')?.row).toMatchObject({ traceparent });
});

test.each([
  ['of the request alone, which may be a later delivery', { traceparent }],
  ['with two values', { 'x-actlog-traceparent': `${traceparent}, ${other}` }],
  ['of zeros', { 'x-actlog-traceparent': `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
  ['that is text', { 'x-actlog-traceparent': 'drop table' }],
  ['that is long', { 'x-actlog-traceparent': `01${traceparent.slice(2)}-${'a'.repeat(4000)}` }],
])('records an event without a trace for a value %s', async (_case, headers) => {
  const server = await testServer();
  const event = activityEvent();
  await server.ok('events.create', { body: event, headers });
  const { events } = await server.ok('sessions.get', { id: event.sessionId });
  expect(events).toHaveLength(1);
  expect(events[0]).not.toHaveProperty('traceparent');
});

test('keeps the trace of a check with its decision, its held action, the message of a webhook and the log', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const receiver = new WebhookReceiver();
  onTestFinished(() => receiver.close());
  await server.ok('notificationChannels.create', {
    body: { url: await receiver.listen(), events: ['guardian.action_pending'] },
  });
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(
    {},
    { 'x-actlog-traceparent': traceparent, traceparent: other },
  );
  const { items } = await server.ok('guardian.pendingActions.list');
  expect(items).toMatchObject([{ id: pendingActionId, traceparent }]);
  expect(await decisions(server)).toMatchObject([{ traceparent }]);
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  const records = await logged(server, 'approval', 1);
  expect(records.find(({ kind }) => kind === 'approval')?.row).toMatchObject({ traceparent });
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ data: { traceparent } });
});

test('takes the trace of the request for a check, which its call waits for', async () => {
  const server = await testServer();
  await server.check({ actionId: 'a-1' }, { traceparent });
  await server.check({ actionId: 'a-2' }, { 'x-actlog-traceparent': 'bad', traceparent });
  await server.check({ actionId: 'a-3' }, { traceparent: `${traceparent}x` });
  const kept = (await decisions(server)).map((decision) => [decision.actionId, decision.traceparent]);
  expect(Object.fromEntries(kept)).toEqual({ 'a-1': traceparent, 'a-2': traceparent, 'a-3': null });
});

test('approves an action in whatever span it is checked again', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ actionId: 'a-1' }, { traceparent });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  expect(await server.check({ actionId: 'a-1' }, { traceparent: other })).toMatchObject({
    decision: 'allow',
  });
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
  expect(items).toMatchObject([{ traceparent }]);
});

test('makes the trace of a span from its ids', async () => {
  const server = await testServer();
  const ids = { traceId, spanId: '00f067aa0ba902b7' };
  const request = traceRequest([toolSpanJson('search', { 'gen_ai.conversation.id': 's-1' }, ids)]);
  await sendTraces(server, request);
  const { events } = await server.ok('sessions.get', { id: 's-1' });
  expect(events).toMatchObject([{ traceparent }]);
});

test.each([
  'https://jaeger.example.com/trace/',
  'javascript:alert({traceId})',
  'jaeger/{traceId}',
  'https://user:secret@jaeger.example.com/{traceId}',
])('does not start with the address %j of traces', async (traceUrl) => {
  await expect(startServer({ database: ':memory:', port: 0, traceUrl })).rejects.toThrow(
    /traceUrl: must be an address with \{traceId\}/,
  );
});

test('tells the console the address of traces', async () => {
  const traceUrl = 'https://jaeger.example.com/trace/{traceId}?uiFind={spanId}';
  const server = await testServer({ traceUrl });
  const response = await fetch(new URL('/console/api/identity', server.server.url), {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  expect(await response.json()).toMatchObject({ traceUrl });
});
