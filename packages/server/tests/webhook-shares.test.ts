import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { newIdentifier } from '../src/identifier.ts';
import { DeploymentSecret } from '../src/keys/deployment-secret.ts';
import { ensureTenant } from '../src/keys/provisioning.ts';
import { insertChannel } from '../src/storage/channel-store.ts';
import { insertDeliveries, listDeliveries } from '../src/storage/delivery-store.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { AddressGuard } from '../src/webhooks/address-guard.ts';
import { encryptedFor } from '../src/webhooks/channel-secret.ts';
import { WebhookSender } from '../src/webhooks/sender.ts';
import { newWebhookSecret } from '../src/webhooks/signature.ts';
import { testSecret, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const secret = new DeploymentSecret(testSecret);

afterEach(() => vi.useRealTimers());

/** A sender, and the database whose outbox it sends. */
async function opened(): Promise<{ storage: Storage; sender: WebhookSender }> {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 4 });
  atTestEnd(() => storage.close());
  const sender = new WebhookSender(storage, secret, new AddressGuard(['127.0.0.0/8']));
  atTestEnd(() => sender.close());
  return { storage, sender };
}

/** The address of a server that takes requests and answers none, but for those to `/answered`. */
async function muteReceiver(onAnswered: () => void = () => {}): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url !== '/answered') return;
    response.end();
    onAnswered();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function answeringReceiver(): Promise<{ receiver: WebhookReceiver; url: string }> {
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
    created_ms: 1,
    last_delivery_ms: null,
    failure_count: 0,
    failing_since_ms: null,
  };
  await storage.write(tenantId, ({ db }) => insertChannel(db, stored));
  return id;
}

/** Leaves messages to a channel in the outbox that have been due since a moment. */
async function leave(storage: Storage, tenantId: number, channelId: string, count: number, dueMs: number) {
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
  }));
  await storage.write(tenantId, ({ db }) => insertDeliveries(db, rows));
}

/** How many messages to a channel a sender has taken. */
async function taken(storage: Storage, tenantId: number, channelId: string): Promise<number> {
  const rows = await storage.read(tenantId, (db) => listDeliveries(db, tenantId, channelId, 100));
  return rows.filter(({ leased_until_ms: leasedUntilMs }) => leasedUntilMs > 0).length;
}

test('receivers of one tenant that never answer do not hold up the webhooks of another', async () => {
  const { storage, sender } = await opened();
  const url = await muteReceiver();
  const crowd = await tenant(storage, 'crowd');
  const channels = await Promise.all(Array.from({ length: 10 }, () => channel(storage, crowd, url)));
  for (const id of channels) await leave(storage, crowd, id, 8, 1);
  const { receiver, url: answering } = await answeringReceiver();
  const other = await tenant(storage, 'other');
  await leave(storage, other, await channel(storage, other, answering), 1, 2);
  await sender.pass();
  const counts = await Promise.all(channels.map((id) => taken(storage, crowd, id)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(8);
  await receiver.received(1);
});

test('the tries that are under way count towards those of a webhook', async () => {
  const { storage, sender } = await opened();
  const tenantId = await tenant(storage, 'one');
  const mute = await channel(storage, tenantId, await muteReceiver());
  await leave(storage, tenantId, mute, 3, 1);
  await sender.pass();
  expect(await taken(storage, tenantId, mute)).toBe(3);
  await leave(storage, tenantId, mute, 5, 2);
  await sender.pass();
  expect(await taken(storage, tenantId, mute)).toBe(4);
});

test('a webhook with many messages does not hide those of another', async () => {
  const { storage, sender } = await opened();
  const tenantId = await tenant(storage, 'one');
  const url = await muteReceiver();
  const busy = await channel(storage, tenantId, url);
  await leave(storage, tenantId, busy, 50, 1);
  const quiet = await channel(storage, tenantId, url);
  await leave(storage, tenantId, quiet, 3, 2);
  await sender.pass();
  expect(await taken(storage, tenantId, busy)).toBe(4);
  expect(await taken(storage, tenantId, quiet)).toBe(3);
});

test('receivers of many tenants that never answer do not hold up the webhooks of another', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 });
  const { storage, sender } = await opened();
  const url = await muteReceiver();
  const dead: { tenantId: number; channelId: string }[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const tenantId = await tenant(storage, name);
    for (let webhook = 0; webhook < 2; webhook += 1) {
      const channelId = await channel(storage, tenantId, url);
      dead.push({ tenantId, channelId });
      await leave(storage, tenantId, channelId, 8, 1);
    }
  }
  const deadTaken = async () => {
    const counts = await Promise.all(dead.map((each) => taken(storage, each.tenantId, each.channelId)));
    return counts.reduce((sum, count) => sum + count);
  };
  const { receiver, url: answering } = await answeringReceiver();
  const other = await tenant(storage, 'other');
  await leave(storage, other, await channel(storage, other, answering), 1, 2);
  await sender.pass();
  expect(await deadTaken()).toBe(32);
  vi.setSystemTime(2000);
  await sender.pass();
  await receiver.received(1);
  expect(await deadTaken()).toBe(48);
  const late = await tenant(storage, 'late');
  await leave(storage, late, await channel(storage, late, answering), 1, 3);
  vi.setSystemTime(3000);
  await sender.pass();
  await receiver.received(2);
});

test('a receiver that never answers does not hold up another one on its host', async () => {
  const { storage, sender } = await opened();
  const answered = Promise.withResolvers<void>();
  const url = await muteReceiver(answered.resolve);
  const crowd = await tenant(storage, 'crowd');
  for (let webhook = 0; webhook < 2; webhook += 1) {
    await leave(storage, crowd, await channel(storage, crowd, url), 4, 1);
  }
  const other = await tenant(storage, 'other');
  await leave(storage, other, await channel(storage, other, `${url}answered`), 1, 2);
  await sender.pass();
  await answered.promise;
});
