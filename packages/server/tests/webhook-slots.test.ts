import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { newIdentifier } from '../src/lib/identifier.ts';
import { Metrics } from '../src/observability/metrics.ts';
import { openStorage } from '../src/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { insertChannel } from '../src/storage/stores/channel-store.ts';
import { insertDeliveries, listDeliveries } from '../src/storage/stores/delivery-store.ts';
import { DeploymentSecret } from '../src/tenants/deployment-secret.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { AddressGuard } from '../src/webhooks/address-guard.ts';
import { encryptedFor } from '../src/webhooks/channel-changes.ts';
import type { HostRate } from '../src/webhooks/delivery-slots.ts';
import { WebhookSender } from '../src/webhooks/sender.ts';
import { newWebhookSecret } from '../src/webhooks/webhook-outbox.ts';
import { testSecret, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const secret = new DeploymentSecret(testSecret);

afterEach(() => vi.useRealTimers());

/** Opens a storage with a sender for its outbox. */
async function opened(hostRate?: HostRate): Promise<{ storage: Storage; sender: WebhookSender }> {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 4 });
  atTestEnd(() => storage.close());
  const sender = new WebhookSender(
    storage,
    secret,
    new AddressGuard(['127.0.0.0/8'], 'any'),
    new Metrics(() => 0),
    hostRate,
  );
  atTestEnd(() => sender.close());
  return { storage, sender };
}

/** Starts a server that accepts requests and responds only to those for `/responded`. */
async function muteReceiver(onResponse: () => void = () => {}): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url !== '/responded') return;
    response.end();
    onResponse();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function responsiveReceiver(): Promise<{ receiver: WebhookReceiver; url: string }> {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  atTestEnd(() => receiver.close());
  return { receiver, url };
}

function tenant(storage: Storage, name: string): Promise<number> {
  return storage.writeAcross('administer', ({ db }) => ensureTenant(db, name));
}

async function channel(storage: Storage, tenantId: number, url: string): Promise<string> {
  const id = newIdentifier('nch');
  const stored = {
    tenant_id: tenantId,
    id,
    url,
    events: ['policy.matched'] as const,
    secret: encryptedFor({ tenant_id: tenantId, id }, newWebhookSecret(), secret),
    previous_secret: null,
    previous_until_ms: null,
    status: 'active' as const,
    risk_level: 'high' as const,
    created_ms: 1,
    last_delivery_ms: null,
    failure_count: 0,
    failing_since_ms: null,
    kind: 'webhook' as const,
    name: null,
    settings: '{}',
    rules: '{}',
    muted_until_ms: null,
  };
  await storage.write(tenantId, ({ db }) => insertChannel(db, stored));
  return id;
}

/** Adds messages for a webhook to the outbox, due since a given time. */
async function addMessages(
  storage: Storage,
  tenantId: number,
  channelId: string,
  count: number,
  dueMs: number,
) {
  const rows = Array.from({ length: count }, () => ({
    tenant_id: tenantId,
    id: newIdentifier('dlv'),
    channel_id: channelId,
    message_id: newIdentifier('msg'),
    event_type: 'policy.matched',
    body: '{}',
    status: 'waiting' as const,
    attempts: 0,
    next_attempt_ms: dueMs,
    leased_until_ms: 0,
    created_ms: dueMs,
    finished_ms: null,
    last_status: null,
    last_error: null,
    last_duration_ms: null,
    subject: null,
    recipient: null,
    reference: null,
  }));
  await storage.write(tenantId, ({ db }) => insertDeliveries(db, rows));
}

/** Returns the number of messages for a webhook that a sender has leased. */
async function taken(storage: Storage, tenantId: number, channelId: string): Promise<number> {
  const rows = await storage.read(tenantId, (db) => listDeliveries(db, tenantId, channelId, 100));
  return rows.filter(({ leased_until_ms: leasedUntilMs }) => leasedUntilMs > 0).length;
}

test('does not let unresponsive receivers of one tenant delay the webhooks of another', async () => {
  const { storage, sender } = await opened();
  const url = await muteReceiver();
  const receivers = await tenant(storage, 'crowd');
  const channels = await Promise.all(Array.from({ length: 10 }, () => channel(storage, receivers, url)));
  for (const id of channels) await addMessages(storage, receivers, id, 8, 1);
  const { receiver, url: responsive } = await responsiveReceiver();
  const other = await tenant(storage, 'other');
  await addMessages(storage, other, await channel(storage, other, responsive), 1, 2);
  await sender.pass();
  const counts = await Promise.all(channels.map((id) => taken(storage, receivers, id)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(8);
  await receiver.received(1);
});

test('counts attempts in progress against the slots of a webhook', async () => {
  const { storage, sender } = await opened();
  const tenantId = await tenant(storage, 'one');
  const mute = await channel(storage, tenantId, await muteReceiver());
  await addMessages(storage, tenantId, mute, 3, 1);
  await sender.pass();
  expect(await taken(storage, tenantId, mute)).toBe(3);
  await addMessages(storage, tenantId, mute, 5, 2);
  await sender.pass();
  expect(await taken(storage, tenantId, mute)).toBe(4);
});

test('does not let a webhook with many messages hide those of another', async () => {
  const { storage, sender } = await opened();
  const tenantId = await tenant(storage, 'one');
  const url = await muteReceiver();
  const busy = await channel(storage, tenantId, url);
  await addMessages(storage, tenantId, busy, 50, 1);
  const quiet = await channel(storage, tenantId, url);
  await addMessages(storage, tenantId, quiet, 3, 2);
  await sender.pass();
  expect(await taken(storage, tenantId, busy)).toBe(4);
  expect(await taken(storage, tenantId, quiet)).toBe(3);
});

test('does not let unresponsive receivers of many tenants delay the webhooks of another', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  const { storage, sender } = await opened();
  const url = await muteReceiver();
  const dead: { tenantId: number; channelId: string }[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const tenantId = await tenant(storage, name);
    for (let webhook = 0; webhook < 2; webhook += 1) {
      const channelId = await channel(storage, tenantId, url);
      dead.push({ tenantId, channelId });
      await addMessages(storage, tenantId, channelId, 8, 1);
    }
  }
  const deadTaken = async () => {
    const counts = await Promise.all(dead.map((each) => taken(storage, each.tenantId, each.channelId)));
    return counts.reduce((sum, count) => sum + count);
  };
  const { receiver, url: responsive } = await responsiveReceiver();
  const other = await tenant(storage, 'other');
  await addMessages(storage, other, await channel(storage, other, responsive), 1, 2);
  await sender.pass();
  expect(await deadTaken()).toBe(32);
  vi.setSystemTime(2000);
  await sender.pass();
  await receiver.received(1);
  expect(await deadTaken()).toBe(48);
  const late = await tenant(storage, 'late');
  await addMessages(storage, late, await channel(storage, late, responsive), 1, 3);
  vi.setSystemTime(3000);
  await sender.pass();
  await receiver.received(2);
});

test('does not let an unresponsive receiver delay another on its host', async () => {
  const { storage, sender } = await opened();
  const responded = Promise.withResolvers<void>();
  const url = await muteReceiver(responded.resolve);
  const receivers = await tenant(storage, 'crowd');
  for (let webhook = 0; webhook < 2; webhook += 1) {
    await addMessages(storage, receivers, await channel(storage, receivers, url), 4, 1);
  }
  const other = await tenant(storage, 'other');
  await addMessages(storage, other, await channel(storage, other, `${url}responded`), 1, 2);
  await sender.pass();
  await responded.promise;
});

/** Returns the state of the messages for a webhook. */
async function state(storage: Storage, tenantId: number, channelId: string) {
  const rows = await storage.read(tenantId, (db) => listDeliveries(db, tenantId, channelId, 100));
  const waiting = rows.filter(({ status }) => status === 'waiting');
  return {
    delivered: rows.filter(({ status }) => status === 'delivered').length,
    waiting: waiting.length,
    attempts: waiting.reduce((sum, { attempts }) => sum + attempts, 0),
  };
}

test("limits attempts to a host across all webhooks, without using up waiting messages' attempts", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  const { storage, sender } = await opened({ requestsPerSecond: 0.01, burst: 3 });
  const { receiver, url } = await responsiveReceiver();
  const tenantId = await tenant(storage, 'one');
  const channels = [await channel(storage, tenantId, url), await channel(storage, tenantId, url)];
  for (const id of channels) await addMessages(storage, tenantId, id, 4, 1);
  await sender.pass();
  await sender.idle();
  expect(receiver.messages).toHaveLength(3);
  const sums = await Promise.all(channels.map((id) => state(storage, tenantId, id)));
  expect(sums.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(5);
  expect(sums.map(({ attempts }) => attempts)).toEqual([0, 0]);
  for (let sent = 4; sent <= 8; sent += 1) {
    vi.setSystemTime(Date.now() + 100_000);
    await sender.pass();
    await sender.idle();
    expect(receiver.messages).toHaveLength(sent);
  }
});

test("does not let one tenant's backlog delay another's message to the same host", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  const { storage, sender } = await opened({ requestsPerSecond: 0.01, burst: 1 });
  const { url } = await responsiveReceiver();
  const busy = await tenant(storage, 'busy');
  const busyChannel = await channel(storage, busy, url);
  await addMessages(storage, busy, busyChannel, 60, 1);
  const quiet = await tenant(storage, 'quiet');
  const quietChannel = await channel(storage, quiet, url);
  await addMessages(storage, quiet, quietChannel, 1, 2);
  for (let turn = 0; turn < 3; turn += 1) {
    await sender.pass();
    await sender.idle();
    vi.setSystemTime(Date.now() + 100_000);
  }
  expect(await state(storage, quiet, quietChannel)).toMatchObject({ delivered: 1 });
  expect(await state(storage, busy, busyChannel)).toMatchObject({ delivered: 2, attempts: 0 });
});
