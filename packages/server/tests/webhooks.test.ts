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

/** The only channel, when it is in the state that a test waits for. */
async function channelWith(server: TestServer, expected: object): Promise<void> {
  await vi.waitFor(
    async () => {
      const { items } = await server.ok('notificationChannels.list');
      expect(items).toMatchObject([expected]);
    },
    { timeout: 10_000 },
  );
}

/** Messages that a faked clock sends: a second at a time, because a look into the outbox takes real time. */
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

test('a webhook is created with its secret, which is never shown again', async () => {
  const server = await withReceiver();
  const created = await server.ok('notificationChannels.create', { body: { url } });
  expect(created).toMatchObject({ kind: 'webhook', url, status: 'active', failureCount: 0 });
  expect(created.events).toContain('session.risk_raised');
  expect(Buffer.from(created.secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
  const { secret: _, ...shown } = created;
  expect((await server.ok('notificationChannels.list')).items).toEqual([shown]);
});

test('decisions are delivered, signed as Standard Webhooks says', async () => {
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

test('a message goes to those who want its kind', async () => {
  const server = await withReceiver();
  await server.ok('notificationChannels.create', { body: { url, events: ['session.risk_raised'] } });
  await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  const { id } = await server.policy({ mode: 'log_only' });
  await server.check();
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ type: 'policy.matched', data: { policyId: id, mode: 'log_only' } });
  expect(receiver.messages).toHaveLength(1);
});

test('a failed delivery is tried again by the schedule, under the same id', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await withReceiver();
  await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  receiver.answers.push({ status: 500 }, { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
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

test('a webhook is disabled when all tries of a message fail, over five days, and not by one failure after a pause', {
  timeout: 60_000,
}, async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  receiver.answers.push(...Array.from({ length: 10 }, () => ({ status: 500 })));
  await server.policy();
  await server.check();
  await received(1);
  for (let tries = 1; tries < 10; tries += 1) {
    await channelWith(server, { failureCount: tries, status: 'active' });
    vi.setSystemTime(Date.now() + 6 * 24 * 3_600_000);
    await received(tries + 1);
  }
  await channelWith(server, { failureCount: 10, status: 'disabled' });
  const [delivery] = await server.server.admin.deliveries('default', id);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 10, last_status: 500 });
});

test('a receiver that is gone disables its webhook, to which nothing is sent then, not by hand either', async () => {
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  receiver.answers.push({ status: 410 });
  await server.policy();
  await server.check();
  await channelWith(server, { status: 'disabled' });
  const log = await server.server.admin.deliveries('default', id);
  expect(log).toMatchObject([{ status: 'failed', attempts: 1, last_status: 410 }]);
  expect((await server.check()).decision).toBe('deny');
  expect(await server.server.admin.deliveries('default', id)).toEqual(log);
  const { admin } = server.server;
  await expect(admin.replayDelivery('default', log[0]?.id as string)).rejects.toThrow(`"${id}" is disabled`);
  await expect(admin.replayDelivery('default', 'dlv_none')).rejects.toThrow('no delivery "dlv_none"');
  expect(await admin.deliveries('default', id)).toEqual(log);
});

test('a message can be delivered again by hand', async () => {
  const server = await withReceiver();
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  await server.policy();
  await server.check();
  await receiver.received(1);
  await channelWith(server, { lastDeliveryAt: expect.any(String) });
  const [delivery] = await server.server.admin.deliveries('default', id);
  await server.server.admin.replayDelivery('default', delivery?.id as string);
  const [first, second] = await receiver.received(2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
});

test.each([
  ['arrives', 204],
  ['fails', 500],
])('a message that is asked for again while it %s is sent again at once', async (_, status) => {
  const server = await withReceiver();
  const { admin } = server.server;
  const { id } = await server.ok('notificationChannels.create', {
    body: { url, events: ['policy.matched'] },
  });
  await server.policy();
  receiver.answers.push({ status });
  receiver.beforeAnswer = async () => {
    receiver.beforeAnswer = async () => {};
    const [delivery] = await admin.deliveries('default', id);
    await admin.replayDelivery('default', delivery?.id as string);
  };
  await server.check();
  await vi.waitFor(() => expect(receiver.messages).toHaveLength(2), 10_000);
  await channelWith(server, { failureCount: 0 });
  await vi.waitFor(async () => {
    const log = await admin.deliveries('default', id);
    expect(log).toMatchObject([{ status: 'delivered', attempts: 1, last_error: null }]);
  });
});

test('what a stopped server had not delivered, the next one delivers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const before = await testServer(options);
  await before.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  await before.policy();
  receiver.answers.push({ status: 503 });
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

test('what a stopped server was sending, the next one sends at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const before = await testServer(options);
  await before.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
  await before.policy();
  const arrived = new Promise<void>((resolve) => {
    receiver.beforeAnswer = () => {
      receiver.beforeAnswer = async () => {};
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

test('a webhook whose secret was made under another secret of the deployment says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-webhooks-'));
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
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
  const [delivery] = await after.server.admin.deliveries('default', id);
  expect(delivery).toMatchObject({ status: 'waiting', last_error: expect.stringContaining('make it anew') });
  expect(receiver.messages).toEqual([]);
  await after.server.close();
  rmSync(folder, { recursive: true });
});

test('of two servers on one file, one sends each message', async () => {
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
