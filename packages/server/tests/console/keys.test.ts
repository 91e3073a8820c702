import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { version } from '../../src/lib/version.ts';
import { testServer } from '../test-server.ts';
import { idOf, TestConsole } from './test-console.ts';

const dayMs = 24 * 3_600_000;
const everyScope = ['ingest', 'read', 'manage', 'decide'];

let owner: TestConsole;

beforeEach(async () => {
  owner = new TestConsole(await testServer({}));
});

afterEach(() => {
  vi.useRealTimers();
});

test('creates a key as requested, and shows it this once', async () => {
  const wanted = { name: 'Billing', kind: 'test', scopes: ['read', 'ingest', 'read'], expiresInDays: 30 };
  const { key, apiKey } = await owner.create(wanted);
  expect(key).toEqual({
    id: idOf(apiKey),
    name: 'Billing',
    kind: 'test',
    scopes: ['read', 'ingest'],
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    lastUsedAt: null,
    expiresAt: expect.any(String),
    createdBy: `key_${idOf(owner.server.apiKey)}`,
    agents: null,
    shared: false,
    requiresIdentity: false,
    current: false,
  });
  expect(Date.parse(key.expiresAt as string) - Date.parse(key.createdAt)).toBeLessThanOrEqual(30 * dayMs);
  expect(apiKey).toMatch(/^al_test_[0-9A-Za-z]{48}$/);
  await owner.server.as(apiKey).ok('sessions.list');
  expect((await owner.server.as(apiKey).refused('agents.create', { body: { name: 'a' } })).status).toBe(403);
  const listed = JSON.stringify(await owner.keys());
  expect(listed).toContain(key.id);
  expect(listed).not.toContain(apiKey.slice(18));
  expect(listed).not.toMatch(/digest|tenant|[0-9a-f]{64}/);
});

test('creates a live key with every scope and no expiry by default', async () => {
  const { key, apiKey } = await owner.create({ name: 'Ops' });
  expect(key).toMatchObject({ kind: 'live', scopes: everyScope, expiresAt: null });
  await owner.as(apiKey).keys();
});

test("lists keys newest first, with the caller's key and the last use of each", async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const created: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    vi.setSystemTime(Date.now() + 1000);
    created.unshift((await owner.create({ name })).key.id);
  }
  const own = idOf(owner.server.apiKey);
  // The server also has a key for agents, created with the caller's.
  const items = (await owner.keys()).filter(({ name }) => name !== 'startServer (agents)');
  expect(items.map(({ id }) => id)).toEqual([...created, own]);
  expect(items.filter(({ current }) => current).map(({ id }) => id)).toEqual([own]);
  expect(items.map(({ lastUsedAt }) => lastUsedAt === null)).toEqual([true, true, true, false]);
});

test('lists an ended key for thirty days', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'gone' });
  await owner.revoke(key.id);
  const isListed = async () => (await owner.keys()).some(({ id }) => id === key.id);
  vi.setSystemTime(Date.now() + 30 * dayMs - 1);
  expect(await isListed()).toBe(true);
  vi.setSystemTime(Date.now() + 1);
  expect(await isListed()).toBe(false);
});

test('lists the newest thousand keys', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const first = await owner.create({ name: 'first' });
  vi.setSystemTime(Date.now() + 1000);
  const { admin } = owner.server.server;
  for (let created = 0; created < 1000; created += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        admin.keys.create('default', { name: `key ${created + index}` }),
      ),
    );
  }
  const items = await owner.keys();
  expect(items).toHaveLength(1000);
  expect(items.map(({ id }) => id)).not.toContain(first.key.id);
});

test('accepts a rotated key until its overlap ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const old = await owner.create({ name: 'agent', kind: 'test', scopes: ['read'] });
  await owner.server.as(old.apiKey).ok('sessions.list');
  const next = await owner.rotate(old.key.id, { overlapDays: 2 });
  expect(next.key).toMatchObject({ name: 'agent', kind: 'test', scopes: ['read'], expiresAt: null });
  expect(next.key.id).not.toBe(old.key.id);
  const listed = (await owner.keys()).find(({ id }) => id === old.key.id);
  expect(listed?.expiresAt).toBe(new Date(Date.now() + 2 * dayMs).toISOString());
  await owner.server.as(old.apiKey).ok('sessions.list');
  await owner.server.as(next.apiKey).ok('sessions.list');
  vi.setSystemTime(Date.now() + 2 * dayMs);
  expect((await owner.server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
  await owner.server.as(next.apiKey).ok('sessions.list');
  const last = await owner.rotate(next.key.id, { expiresInDays: 30 });
  expect(last.key.expiresAt).toBe(new Date(Date.now() + 30 * dayMs).toISOString());
});

test.each([
  ['no body', undefined],
  ['an empty object', {}],
])('overlaps for a day with %s', async (_what, body) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'agent' });
  await owner.rotate(key.id, body);
  const listed = (await owner.keys()).find(({ id }) => id === key.id);
  expect(listed?.expiresAt).toBe(new Date(Date.now() + dayMs).toISOString());
});

test('refuses the old key at once without an overlap, even on its own connection', async () => {
  const old = await owner.create({ name: 'agent' });
  await owner.server.as(old.apiKey).ok('sessions.list');
  await owner.rotate(old.key.id, { overlapDays: 0 });
  expect((await owner.server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
});

test('never extends a key by a rotation', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'agent', expiresInDays: 0.5 });
  await owner.rotate(key.id, { overlapDays: 7 });
  expect((await owner.keys()).find(({ id }) => id === key.id)?.expiresAt).toBe(key.expiresAt);
});

test('accepts days that are fractions of a millisecond', async () => {
  const { key } = await owner.create({ name: 'agent', expiresInDays: 0.123_456_789_1 });
  expect(key.expiresAt).toEqual(expect.any(String));
  await owner.rotate(key.id, { overlapDays: 0.012_345_678_9 });
});

test('does not replace a key that has ended', async () => {
  const { key } = await owner.create({ name: 'agent' });
  const before = await owner.keys();
  await owner.revoke(key.id);
  const error = await owner.refused('POST', `keys/${key.id}/rotate`);
  expect(error).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ path: 'params.id', code: 'key_ended', message: expect.stringContaining('create a new one') }],
  });
  expect(await owner.keys()).toHaveLength(before.length);
});

test('refuses a revoked key at once, and changes nothing when revoked again', async () => {
  const { key, apiKey } = await owner.create({ name: 'agent' });
  await owner.server.as(apiKey).ok('sessions.list');
  const revoked = await owner.revoke(key.id);
  expect((await owner.server.as(apiKey).refused('sessions.list')).status).toBe(401);
  expect(revoked.expiresAt).toEqual(expect.any(String));
  expect(await owner.revoke(key.id, {})).toEqual(revoked);
});

test("rotates and revokes the caller's own key, which is then refused", async () => {
  const old = await owner.create({ name: 'me' });
  const mine = owner.as(old.apiKey);
  const next = await mine.rotate(old.key.id, { overlapDays: 0 });
  expect(next.key.current).toBe(false);
  expect((await mine.refused('GET', 'keys')).code).toBe('AUTHENTICATION_FAILED');
  const successor = owner.as(next.apiKey);
  expect(await successor.revoke(next.key.id)).toMatchObject({ id: next.key.id, current: true });
  expect((await successor.refused('GET', 'identity')).code).toBe('AUTHENTICATION_FAILED');
});

test("shows the caller's key to a key with any scope", async () => {
  await owner.server.server.admin.tenants.create('acme');
  const { apiKey, key } = await owner.server.server.admin.keys.create('acme', {
    name: 'agent',
    scopes: ['ingest'],
  });
  expect(await owner.as(apiKey).identity()).toEqual({
    id: `key_${key.id}`,
    keyId: key.id,
    name: 'agent',
    kind: 'live',
    scopes: ['ingest'],
    expiresAt: null,
    tenant: 'acme',
    serverVersion: version,
  });
});

test("shows the tenant's retention and quotas to a key that may read", async () => {
  const limits = await owner.send('GET', 'limits');
  expect(await limits.json()).toMatchObject({
    retentionDays: null,
    quotas: { eventsPerMonth: { used: 0, max: 100_000_000 }, policies: { used: 0, max: 1000 } },
  });
  const { apiKey } = await owner.create({ name: 'agent', scopes: ['ingest'] });
  expect((await owner.as(apiKey).refused('GET', 'limits')).code).toBe('PERMISSION_DENIED');
});
