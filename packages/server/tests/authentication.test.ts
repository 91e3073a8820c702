import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointNames, endpoints, type Scope } from '@actlog/protocol';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { readError, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

test.each(endpointNames)('%s returns 401 without a key, and nothing more', async (name) => {
  const server = await testServer();
  const response = await server.send(name, { id: 'x', headers: { authorization: '' } });
  const error = await readError(response);
  expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED', details: [] });
  expect(error.message).toBe('The API key is invalid or missing.');
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
});

test('refuses unknown, altered and malformed keys with the same error', async () => {
  const server = await testServer();
  const { apiKey } = server;
  const altered = apiKey.slice(0, 25) + (apiKey[25] === 'a' ? 'b' : 'a') + apiKey.slice(26);
  const keys = [newApiKey('test'), altered, apiKey.replace('test', 'live'), `${apiKey}x`, 'al_test_', 'x y'];
  for (const key of keys) {
    const error = await server.as(key).refused('sessions.list');
    expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED' });
  }
  const basic = await server.send('sessions.list', { headers: { authorization: `Basic ${apiKey}` } });
  expect(basic.status).toBe(401);
});

test.each(['ingest', 'read', 'manage', 'decide'] as Scope[])(
  'admits a key with the scope %s only to the endpoints of that scope',
  async (scope) => {
    const server = await testServer();
    const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: scope, scopes: [scope] });
    for (const name of endpointNames) {
      const response = await server.as(apiKey).send(name, { id: 'unknown' });
      expect([name, response.status === 403]).toEqual([name, endpoints[name].scope !== scope]);
    }
  },
);

test.each<[options: unknown, problem: string]>([
  [undefined, 'options: Invalid input: expected object, received undefined'],
  [{}, 'name: Invalid input: expected string, received undefined'],
  [{ name: 'agent', kind: 'prod' }, 'kind: Invalid option: expected one of "live"|"test"'],
  [{ name: 'agent', scopes: 'read' }, 'scopes: Invalid input: expected array, received string'],
  [{ name: 'agent', scopes: ['reed'] }, 'scopes.0: Invalid option: expected one of "ingest"|'],
  [{ name: 'agent', scopes: [] }, 'scopes: must name a scope, or be left out for all'],
  [{ name: 'agent', scope: ['read'] }, 'options: Unrecognized key: "scope"'],
])('creates no key with the invalid options %j of an untyped program', async (options, problem) => {
  const server = await testServer();
  const { admin } = server.server;
  const before = await admin.keys.list(server.tenant);
  const attempt = admin.keys.create(server.tenant, options as { name: string });
  await expect(attempt).rejects.toThrow(`The key's options are not valid:\n  ${problem}`);
  await expect(admin.keys.create(undefined as never, { name: 'agent' })).rejects.toThrow(
    'A tenant must be given by its name, a string, not undefined.',
  );
  await expect(
    admin.keys.create(server.tenant, { name: 'agent', expiresInDays: Number.NaN }),
  ).rejects.toThrow(new RangeError('A key must expire in more than 0 and at most 36500 days, not NaN.'));
  expect(await admin.keys.list(server.tenant)).toEqual(before);
});

test('accepts a rotated key until its overlap ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer();
  const { admin } = server.server;
  const old = await admin.keys.create(server.tenant, { name: 'agent' });
  await server.as(old.apiKey).ok('sessions.list');
  const next = await admin.keys.rotate(server.tenant, old.key.id, 2);
  expect(next.key).toMatchObject({ name: 'agent', kind: 'live', scopes: old.key.scopes });
  await server.as(old.apiKey).ok('sessions.list');
  await server.as(next.apiKey).ok('sessions.list');
  vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
  expect((await server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
  await server.as(next.apiKey).ok('sessions.list');
  const last = await admin.keys.rotate(server.tenant, next.key.id, 0, 30);
  expect(last.key.expiresMs).toBe(Date.now() + 30 * 24 * 3_600_000);
  await expect(admin.keys.rotate(server.tenant, last.key.id, 1, 0)).rejects.toThrow('more than 0');
  await expect(admin.keys.rotate(server.tenant, last.key.id, 8)).rejects.toThrow('0 to 7 days');
  await expect(admin.keys.rotate(server.tenant, old.key.id)).rejects.toThrow('has ended');
});

test('requires a valid form of a configured key, and keeps it across restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  await expect(testServer({ database, apiKey: 'key' })).rejects.toThrow('is malformed');
  const kept = await testServer({ database, apiKey: newApiKey('live') });
  await kept.server.close();
  await (await testServer({ database, apiKey: kept.apiKey })).ok('sessions.list');
});

test('ends a revoked key at once, and a leaked key without its id', async () => {
  const server = await testServer();
  const { admin } = server.server;
  const key = await admin.keys.create(server.tenant, { name: 'agent' });
  await server.as(key.apiKey).ok('sessions.list');
  await admin.keys.revoke(server.tenant, key.key.id);
  expect((await server.as(key.apiKey).refused('sessions.list')).status).toBe(401);
  const leaked = await admin.keys.create(server.tenant, { name: 'leaked' });
  expect(await admin.keys.revokeLeaked(leaked.apiKey)).toBe(true);
  expect((await server.as(leaked.apiKey).refused('sessions.list')).status).toBe(401);
  expect(await admin.keys.revokeLeaked(newApiKey('live'))).toBe(false);
  await expect(admin.keys.revoke(server.tenant, 'nobody')).rejects.toThrow('no key "nobody"');
});

test('refuses test keys when configured to', async () => {
  const server = await testServer({ acceptTestKeys: false });
  expect((await server.refused('sessions.list')).status).toBe(401);
  const live = await server.server.admin.keys.create(server.tenant, { name: 'live' });
  await server.as(live.apiKey).ok('sessions.list');
});

test.each([
  ['limited', {}],
  ['not limited', { rateLimit: false }],
] as const)(
  'records the last use of a key where requests are %s, and never shows its digest',
  async (_, options) => {
    const server = await testServer(options);
    const { admin } = server.server;
    const { apiKey, key } = await admin.keys.create(server.tenant, { name: 'agent' });
    expect(key.lastUsedMs).toBeNull();
    await server.as(apiKey).ok('sessions.list');
    const found = (await admin.keys.list(server.tenant)).find(({ id }) => id === key.id);
    expect(found?.lastUsedMs).toBeGreaterThan(0);
    expect(JSON.stringify(await admin.keys.list(server.tenant))).not.toMatch(/digest|[0-9a-f]{64}/);
  },
);

test('limits requests with unknown keys per address, and still accepts valid keys from it', async () => {
  const server = await testServer({ invalidKeyLimit: { requestsPerSecond: 1, burst: 50 } });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'later' });
  const nobody = server.as(newApiKey('test'));
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      // All keys differ, and some are missing.
      const response = await server.as(index % 3 === 0 ? '' : newApiKey('live')).send('sessions.list');
      await response.arrayBuffer();
      return response.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const refused = await nobody.refused('sessions.list');
  expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'RATE_LIMITED',
    '1',
  ]);
  // One key was used before the flood, and one was not.
  await server.ok('sessions.list');
  await server.as(apiKey).ok('sessions.list');
});
