import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testServer } from '../test-server.ts';
import { idOf, TestConsole } from './test-console.ts';

const dayMs = 24 * 3_600_000;
const everyScope = ['ingest', 'read', 'manage', 'decide'];

let owner: TestConsole;

beforeEach(async () => {
  owner = new TestConsole(await testServer());
});

afterEach(() => {
  vi.useRealTimers();
});

test('a key is made with what the request says, and shown this once', async () => {
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

test('a key of which only the name is said is a live one with every scope that never ends', async () => {
  const { key, apiKey } = await owner.create({ name: 'Ops' });
  expect(key).toMatchObject({ kind: 'live', scopes: everyScope, expiresAt: null });
  await owner.as(apiKey).keys();
});

test('keys are listed newest first, with the key that asks and the last use of each', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const made: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    vi.setSystemTime(Date.now() + 1000);
    made.unshift((await owner.create({ name })).key.id);
  }
  const own = idOf(owner.server.apiKey);
  const items = await owner.keys();
  expect(items.map(({ id }) => id)).toEqual([...made, own]);
  expect(items.filter(({ current }) => current).map(({ id }) => id)).toEqual([own]);
  expect(items.map(({ lastUsedAt }) => lastUsedAt === null)).toEqual([true, true, true, false]);
});

test('a key that ended is listed for thirty days', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'gone' });
  await owner.revoke(key.id);
  const isListed = async () => (await owner.keys()).some(({ id }) => id === key.id);
  vi.setSystemTime(Date.now() + 30 * dayMs - 1);
  expect(await isListed()).toBe(true);
  vi.setSystemTime(Date.now() + 1);
  expect(await isListed()).toBe(false);
});

test('a thousand keys are listed and no more, the newest of them', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const first = await owner.create({ name: 'first' });
  vi.setSystemTime(Date.now() + 1000);
  const { admin } = owner.server.server;
  for (let made = 0; made < 1000; made += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => admin.createKey('default', { name: `key ${made + index}` })),
    );
  }
  const items = await owner.keys();
  expect(items).toHaveLength(1000);
  expect(items.map(({ id }) => id)).not.toContain(first.key.id);
});

test('a rotated key leaves its place to one like it, and is taken until its overlap ends', async () => {
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
])('with %s the overlap of a rotation is a day', async (_what, body) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'agent' });
  await owner.rotate(key.id, body);
  const listed = (await owner.keys()).find(({ id }) => id === key.id);
  expect(listed?.expiresAt).toBe(new Date(Date.now() + dayMs).toISOString());
});

test('without overlap the old key is refused at once, on the connection that it came by too', async () => {
  const old = await owner.create({ name: 'agent' });
  await owner.server.as(old.apiKey).ok('sessions.list');
  await owner.rotate(old.key.id, { overlapDays: 0 });
  expect((await owner.server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
});

test('a rotation makes no end later than it was', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { key } = await owner.create({ name: 'agent', expiresInDays: 0.5 });
  await owner.rotate(key.id, { overlapDays: 7 });
  expect((await owner.keys()).find(({ id }) => id === key.id)?.expiresAt).toBe(key.expiresAt);
});

test('days that come to a fraction of a millisecond are taken', async () => {
  const { key } = await owner.create({ name: 'agent', expiresInDays: 0.123_456_789_1 });
  expect(key.expiresAt).toEqual(expect.any(String));
  await owner.rotate(key.id, { overlapDays: 0.012_345_678_9 });
});

test('nothing takes the place of a key that has ended', async () => {
  const { key } = await owner.create({ name: 'agent' });
  await owner.revoke(key.id);
  const error = await owner.refused('POST', `keys/${key.id}/rotate`);
  expect(error).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ path: 'params.id', code: 'key_ended', message: expect.stringContaining('make a new one') }],
  });
  expect(await owner.keys()).toHaveLength(2);
});

test('a revoked key is refused at once, and revoking it again changes nothing', async () => {
  const { key, apiKey } = await owner.create({ name: 'agent' });
  await owner.server.as(apiKey).ok('sessions.list');
  const revoked = await owner.revoke(key.id);
  expect((await owner.server.as(apiKey).refused('sessions.list')).status).toBe(401);
  expect(revoked.expiresAt).toEqual(expect.any(String));
  expect(await owner.revoke(key.id, {})).toEqual(revoked);
});

test('the key that asks can be rotated and revoked, and is refused from then on', async () => {
  const old = await owner.create({ name: 'me' });
  const mine = owner.as(old.apiKey);
  const next = await mine.rotate(old.key.id, { overlapDays: 0 });
  expect(next.key.current).toBe(false);
  expect((await mine.refused('GET', 'keys')).code).toBe('AUTHENTICATION_FAILED');
  const successor = owner.as(next.apiKey);
  expect(await successor.revoke(next.key.id)).toMatchObject({ id: next.key.id, current: true });
  expect((await successor.refused('GET', 'identity')).code).toBe('AUTHENTICATION_FAILED');
});

test('a key of any scope is told which one it is', async () => {
  await owner.server.server.admin.createTenant('acme');
  const { apiKey, key } = await owner.server.server.admin.createKey('acme', {
    name: 'agent',
    scopes: ['ingest'],
  });
  expect(await owner.as(apiKey).identity()).toEqual({
    keyId: key.id,
    name: 'agent',
    kind: 'live',
    scopes: ['ingest'],
    tenant: 'acme',
  });
});
