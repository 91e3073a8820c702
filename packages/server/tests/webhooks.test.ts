import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asSuperuser, onPostgres, testSecret, withTestDatabase } from './test-database.ts';
import { type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let receiver: WebhookReceiver;
let url: string;

beforeEach(async () => {
  receiver = new WebhookReceiver();
  url = await receiver.listen();
});

afterEach(async () => {
  vi.useRealTimers();
  await receiver.close();
});

function withReceiver(): Promise<TestServer> {
  return testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
}

/** Waits until the only webhook has the expected state. */
async function channelWith(server: TestServer, expected: object): Promise<void> {
  await vi.waitFor(
    async () => {
      const { items } = await server.ok('notificationChannels.list');
      expect(items).toMatchObject([expected]);
    },
    { timeout: 10_000 },
  );
}

/** Advances a fake clock second by second until messages arrive, because reading the outbox takes real time. */
async function received(count: number) {
  await vi.waitFor(
    async () => {
      await vi.advanceTimersByTimeAsync(1000);
      expect(receiver.messages.length).toBeGreaterThanOrEqual(count);
    },
    { timeout: 10_000 },
  );
  return receiver.received(count);
}

test('creates a webhook with its secret, which is never shown again', async () => {
  const server = await withReceiver();
  const created = await server.ok('notificationChannels.create', { body: { url } });
  expect(created).toMatchObject({ kind: 'webhook', url, status: 'active', failureCount: 0 });
  expect(created.events).toContain('session.risk_raised');
  expect(Buffer.from(created.secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
  const { secret: _, ...shown } = created;
  expect((await server.ok('notificationChannels.list')).items).toEqual([shown]);
});

test('delivers decisions, signed as Standard Webhooks requires', async () => {
  const server = await withReceiver();
  const { secret } = await server.ok('notificationChannels.create', {
    body: { url, events: ['guardian.action_pending', 'guardian.action_decided'] },
  });
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await server.check();
  await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  const messages = await receiver.received(2);
  for (const { text, headers } of messages) {
    expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(JSON.parse(text));
  }
  expect(messages.map(({ body }) => body.type).sort()).toEqual([
    'guardian.action_decided',
    'guardian.action_pending',
  ]);
  expect(messages[0]?.body.data.id).toBe(id);
  await channelWith(server, { failureCount: 0, lastDeliveryAt: expect.any(String) });
});

test('sends a message to the webhooks that subscribe to its type', async () => {
  const server = await withReceiver();
  await server.ok('notificationChannels.create', { body: { url, events: ['session.risk_raised'] } });
  await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  const { id } = await server.policy({ mode: 'log_only' });
  await server.check();
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({
    type: 'policy.matched',
    data: {
      decision: 'allow',
      policies: [{ policyId: id, policyName: 'test', effect: 'deny', mode: 'log_only' }],
      morePolicies: 0,
    },
  });
  expect(receiver.messages).toHaveLength(1);
});

test('sends one message per webhook for a check, however many policies match', async () => {
  const server = await withReceiver();
  const channels: string[] = [];
  for (const _ of [1, 2, 3]) {
    channels.push((await server.ok('notificationChannels.create', { body: { url } })).id);
  }
  for (let index = 0; index < 130; index += 1) {
    const name = index < 10 ? '☃'.repeat(200) : `p${index}`;
    await server.policy({ name, mode: 'log_only', priority: 1000 - index });
  }
  const sessionId = '☃'.repeat(200);
  const { matched } = await server.check({ agentId: sessionId, sessionId });
  expect(matched).toHaveLength(130);
  const messages = await receiver.received(3);
  for (const id of channels) {
    expect(await server.server.admin.webhooks.deliveries('default', id)).toHaveLength(1);
  }
  const [{ text, body }] = messages as [(typeof messages)[0]];
  expect(body).toMatchObject({ type: 'policy.matched', data: { decision: 'allow' } });
  const { policies, morePolicies } = body.data as { policies: object[]; morePolicies: number };
  expect([policies.length + morePolicies, policies.length > 50]).toEqual([130, true]);
  expect(policies).toEqual(
    matched
      .slice(0, policies.length)
      .map(({ policyId, policyName, effect, mode }) => ({ policyId, policyName, effect, mode })),
  );
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
});

test('refuses a webhook on a port other than web ports unless the operator allows it', async () => {
  const allowed = { webhookAllowedRanges: ['127.0.0.0/8'] };
  const server = await testServer({ ...allowed, webhookAllowedPorts: undefined });
  const refused = await server.refused('notificationChannels.create', { body: { url } });
  expect(refused).toMatchObject({ status: 400, details: [{ path: 'url', code: 'forbidden_port' }] });
  expect(refused.message).toContain('webhooks go to the ports 443 and 80 only, unless the operator');
  await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1/' } });
  const open = await testServer({ ...allowed, webhookAllowedPorts: [Number(new URL(url).port)] });
  await open.ok('notificationChannels.create', { body: { url } });
});

test('retries a failed delivery by the schedule, with the same id', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await withReceiver();
  await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  receiver.responses.push({ status: 500 }, { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
  await server.policy();
  await server.check();
  await receiver.received(1);
  await channelWith(server, { failureCount: 1 });
  await vi.advanceTimersByTimeAsync(7000);
  await received(2);
  await channelWith(server, { failureCount: 2, status: 'active' });
  await vi.advanceTimersByTimeAsync(6 * 60_000);
  const messages = await received(3);
  expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await channelWith(server, { failureCount: 0, status: 'active' });
});

test('disables a webhook after all attempts of a message failed over five days, not after one failure', {
  timeout: 60_000,
}, async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  receiver.responses.push(...Array.from({ length: 10 }, () => ({ status: 500 })));
  await server.policy();
  await server.check();
  await received(1);
  for (let attempts = 1; attempts < 10; attempts += 1) {
    await channelWith(server, { failureCount: attempts, status: 'active' });
    vi.setSystemTime(Date.now() + 6 * 24 * 3_600_000);
    await received(attempts + 1);
  }
  await channelWith(server, { failureCount: 10, status: 'disabled' });
  const [delivery] = await server.server.admin.webhooks.deliveries('default', id);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 10, last_status: 500 });
});

test('disables a webhook that returns 410, and sends nothing more, not even a replay', async () => {
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  receiver.responses.push({ status: 410 });
  await server.policy();
  await server.check();
  await channelWith(server, { status: 'disabled' });
  const log = await server.server.admin.webhooks.deliveries('default', id);
  expect(log).toMatchObject([{ status: 'failed', attempts: 1, last_status: 410 }]);
  expect((await server.check()).decision).toBe('deny');
  expect(await server.server.admin.webhooks.deliveries('default', id)).toEqual(log);
  const { admin } = server.server;
  await expect(admin.webhooks.replay('default', log[0]?.id as string)).rejects.toThrow(`"${id}" is disabled`);
  await expect(admin.webhooks.replay('default', 'dlv_none')).rejects.toThrow('no delivery "dlv_none"');
  expect(await admin.webhooks.deliveries('default', id)).toEqual(log);
});

test('replays a message', async () => {
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  await server.policy();
  await server.check();
  await receiver.received(1);
  await channelWith(server, { lastDeliveryAt: expect.any(String) });
  const [delivery] = await server.server.admin.webhooks.deliveries('default', id);
  await server.server.admin.webhooks.replay('default', delivery?.id as string);
  const [first, second] = await receiver.received(2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
});

test.each([
  ['arrives', 204],
  ['fails', 500],
])('sends a message again at once when its replay is requested while it %s', async (_, status) => {
  const server = await withReceiver();
  const { admin } = server.server;
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  await server.policy();
  receiver.responses.push({ status });
  receiver.beforeResponse = async () => {
    receiver.beforeResponse = async () => {};
    const [delivery] = await admin.webhooks.deliveries('default', id);
    await admin.webhooks.replay('default', delivery?.id as string);
  };
  await server.check();
  await vi.waitFor(() => expect(receiver.messages).toHaveLength(2), 10_000);
  await channelWith(server, { failureCount: 0 });
  await vi.waitFor(async () => {
    const log = await admin.webhooks.deliveries('default', id);
    expect(log).toMatchObject([{ status: 'delivered', attempts: 1, last_error: null }]);
  });
});

test('delivers the remaining messages of a stopped server in the next one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const before = await testServer(options);
  await before.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  await before.policy();
  receiver.responses.push({ status: 503 });
  await before.check();
  await receiver.received(1);
  await channelWith(before, { failureCount: 1 });
  await before.server.close();
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  vi.setSystemTime(Date.now() + 60_000);
  const after = await testServer(options);
  const [first, second] = await received(2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  await channelWith(after, { failureCount: 0 });
  await after.server.close();
  rmSync(folder, { recursive: true });
});

test('repeats an interrupted attempt of a stopped server at once in the next one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const before = await testServer(options);
  await before.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  await before.policy();
  const arrived = new Promise<void>((resolve) => {
    receiver.beforeResponse = () => {
      receiver.beforeResponse = async () => {};
      resolve();
      return new Promise(() => {});
    };
  });
  await before.check();
  await arrived;
  await before.server.close();
  const after = await testServer(options);
  await vi.waitFor(() => expect(receiver.messages).toHaveLength(1), 10_000);
  await channelWith(after, { failureCount: 0, lastDeliveryAt: expect.any(String) });
  await after.server.close();
  rmSync(folder, { recursive: true });
});

test('reports a webhook whose secret was created under another secret of the deployment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = {
    database: join(folder, 'a.db'),
    webhookAllowedRanges: ['127.0.0.0/8'],
    logKey: testSecret,
  };
  const before = await testServer({ ...options, secret: testSecret });
  const { id } = await before.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  await before.policy();
  await before.server.close();
  if (onPostgres) {
    const { database } = await withTestDatabase(options);
    await asSuperuser(`delete from deployment where name = 'secret'`, database);
  }
  const after = await testServer({ ...options, secret: 'another secret, of more than 32 characters' });
  await after.check();
  await channelWith(after, { failureCount: 1 });
  const [delivery] = await after.server.admin.webhooks.deliveries('default', id);
  expect(delivery).toMatchObject({
    status: 'waiting',
    last_error: expect.stringContaining('create it again'),
  });
  expect(receiver.messages).toEqual([]);
  await after.server.close();
  rmSync(folder, { recursive: true });
});

test('sends each message from one of two servers on one file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const [one, two] = [await testServer(options), await testServer(options)];
  await one.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  await one.policy();
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? one : two).check({ sessionId: `s-${index}` }),
    ),
  );
  const messages = await receiver.received(30);
  await channelWith(two, { failureCount: 0 });
  expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(30);
  expect(messages).toHaveLength(30);
  await one.server.close();
  await two.server.close();
  rmSync(folder, { recursive: true });
});
