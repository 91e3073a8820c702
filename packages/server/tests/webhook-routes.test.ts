import type { RotatedWebhook, WebhookDelivery, WebhookDeliveryPage, WebhookState } from '@actlog/protocol';
import { Webhook } from 'standardwebhooks';
import { beforeEach, expect, test } from 'vitest';
import { sendTo, sentTo } from './audit-entries.ts';
import { atTestEnd } from './test-end.ts';
import { readError, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let server: TestServer;
let receiver: WebhookReceiver;
let webhook: { readonly id: string; readonly secret: string };
let path: string;

beforeEach(async () => {
  server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  receiver = new WebhookReceiver();
  atTestEnd(() => receiver.close());
  const body = { url: await receiver.listen(), events: ['policy.matched'] };
  webhook = await server.ok('notificationChannels.create', { body });
  path = `/server/v1/webhooks/${webhook.id}`;
});

function post<Body = WebhookState>(change: string, body?: unknown): Promise<Body> {
  return sentTo(server, 'POST', `${path}/${change}`, body);
}

async function deliveries(query = ''): Promise<readonly WebhookDelivery[]> {
  return (await sentTo<WebhookDeliveryPage>(server, 'GET', `${path}/deliveries${query}`)).items;
}

test('sends a signed test message, and logs its outcome without its content', async () => {
  const { id, status } = await post<WebhookDelivery>('test');
  expect(status).toBe('waiting');
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ type: 'webhook.test', data: { webhookId: webhook.id } });
  new Webhook(webhook.secret).verify(message?.text ?? '', message?.headers as Record<string, string>);
  await expect
    .poll(() => deliveries())
    .toMatchObject([
      {
        id,
        eventType: 'webhook.test',
        status: 'delivered',
        attempts: 1,
        responseStatus: 204,
        error: null,
        durationMs: expect.any(Number),
        nextAttemptAt: null,
      },
    ]);
  expect(JSON.stringify(await deliveries())).not.toContain('data');
});

test('attempts a test message once, and gives the reason of its failure in words', async () => {
  receiver.responses.push({ status: 500 });
  await post('test');
  await expect
    .poll(() => deliveries('?status=failed'))
    .toMatchObject([{ attempts: 1, responseStatus: 500, error: 'the receiver responded with 500' }]);
  expect(await sentTo(server, 'GET', path)).toMatchObject({
    status: 'active',
    failureCount: 1,
    failingSince: expect.any(String),
    waiting: 0,
  });
});

test('resends a message that failed', async () => {
  receiver.responses.push({ status: 500 });
  const { id } = await post<WebhookDelivery>('test');
  await expect.poll(() => deliveries('?status=failed')).toHaveLength(1);
  await sentTo(server, 'POST', `/server/v1/deliveries/${id}/resend`);
  const messages = await receiver.received(2);
  expect(messages[1]?.headers['webhook-id']).toBe(messages[0]?.headers['webhook-id']);
  await expect.poll(() => deliveries('?status=delivered')).toMatchObject([{ id, error: null }]);
});

test('disables and enables a webhook', async () => {
  expect(await post('disable')).toMatchObject({ id: webhook.id, status: 'disabled' });
  const refused = await readError(await sendTo(server, 'POST', `${path}/test`));
  expect(refused).toMatchObject({
    status: 400,
    details: [{ path: 'params.id', code: 'webhook_disabled' }],
  });
  expect(await post('enable')).toMatchObject({ status: 'active', failureCount: 0 });
  await post('test');
  await receiver.received(1);
});

test('rotates the secret, and signs with both during the overlap', async () => {
  const rotated = await post<RotatedWebhook>('rotate-secret', { overlapDays: 7 });
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(Date.parse(rotated.previousSecretUntil ?? '')).toBeGreaterThan(Date.now());
  expect(JSON.stringify(await sentTo(server, 'GET', path))).not.toContain('whsec_');
  await post('test');
  const [message] = await receiver.received(1);
  for (const secret of [webhook.secret, rotated.secret]) {
    new Webhook(secret).verify(message?.text ?? '', message?.headers as Record<string, string>);
  }
  const error = await readError(await sendTo(server, 'POST', `${path}/rotate-secret`, { overlapDays: 8 }));
  expect(error).toMatchObject({ status: 400, details: [{ path: 'overlapDays' }] });
});

test('deletes a webhook with its log, and sends it nothing more', async () => {
  await post('test');
  await receiver.received(1);
  const [delivery] = await deliveries();
  await sentTo(server, 'DELETE', path);
  expect((await server.ok('notificationChannels.list')).items).toEqual([]);
  const gone = [
    ['GET', path],
    ['GET', `${path}/deliveries`],
    ['DELETE', path],
    ['POST', `${path}/enable`],
    ['POST', `/server/v1/deliveries/${delivery?.id}/resend`],
  ] as const;
  for (const [method, place] of gone) {
    expect(await readError(await sendTo(server, method, place))).toMatchObject({ status: 404 });
  }
  await server.policy({ mode: 'log_only' });
  await server.check();
  expect(receiver.messages).toHaveLength(1);
});

test('pages through the log, newest first', async () => {
  for (let count = 1; count <= 3; count += 1) {
    await post('test');
    await receiver.received(count);
  }
  const { items, nextCursor } = await sentTo<WebhookDeliveryPage>(
    server,
    'GET',
    `${path}/deliveries?limit=2`,
  );
  const rest = await deliveries(`?limit=2&cursor=${nextCursor}`);
  expect([...items, ...rest].map(({ id }) => id)).toEqual((await deliveries()).map(({ id }) => id));
});

test('lets a key read the log with "read", and change with "manage" only', async () => {
  const { apiKey } = await server.server.admin.keys.create('default', { name: 'r', scopes: ['read'] });
  const reader = server.as(apiKey);
  expect((await sendTo(reader, 'GET', `${path}/deliveries`)).status).toBe(200);
  for (const [method, place] of [
    ['POST', `${path}/test`],
    ['POST', `${path}/disable`],
    ['DELETE', path],
  ] as const) {
    expect((await sendTo(reader, method, place)).status).toBe(403);
  }
  await server.server.admin.tenants.create('rival');
  const rival = await server.server.admin.keys.create('rival', { name: 'rival' });
  expect((await sendTo(server.as(rival.apiKey), 'GET', path)).status).toBe(404);
});
