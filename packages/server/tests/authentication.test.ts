import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointNames, endpoints, type Scope } from '@actlog/protocol';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { newApiKey } from '../src/keys/api-key.ts';
import { readError, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

test.each(endpointNames)('%s answers 401 without a key, and nothing more', async (name) => {
  const server = await testServer();
  const response = await server.send(name, { id: 'x', headers: { authorization: '' } });
  const error = await readError(response);
  expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED', details: [] });
  expect(error.message).toBe('The API key is invalid or missing.');
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
});

test('keys that are unknown, altered or of another form are refused alike', async () => {
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
  'a key with the scope %s is let through to its endpoints and to no others',
  async (scope) => {
    const server = await testServer();
    const { apiKey } = await server.server.admin.createKey('default', { name: scope, scopes: [scope] });
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
])('a program that knows no types makes no key with the options %j', async (options, problem) => {
  const { admin } = (await testServer()).server;
  const before = await admin.keys('default');
  const attempt = admin.createKey('default', options as { name: string });
  await expect(attempt).rejects.toThrow(`The key's options are not valid:\n  ${problem}`);
  await expect(admin.createKey(undefined as never, { name: 'agent' })).rejects.toThrow(
    'A tenant must be given by its name, a string, not undefined.',
  );
  await expect(admin.createKey('default', { name: 'agent', expiresInDays: Number.NaN })).rejects.toThrow(
    new RangeError('A key must end in more than 0 and at most 36500 days, not NaN.'),
  );
  expect(await admin.keys('default')).toEqual(before);
});

test('a rotated key is taken until its overlap ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer();
  const { admin } = server.server;
  const old = await admin.createKey('default', { name: 'agent' });
  await server.as(old.apiKey).ok('sessions.list');
  const next = await admin.rotateKey('default', old.key.id, 2);
  expect(next.key).toMatchObject({ name: 'agent', kind: 'live', scopes: old.key.scopes });
  await server.as(old.apiKey).ok('sessions.list');
  await server.as(next.apiKey).ok('sessions.list');
  vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
  expect((await server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
  await server.as(next.apiKey).ok('sessions.list');
  const last = await admin.rotateKey('default', next.key.id, 0, 30);
  expect(last.key.expiresMs).toBe(Date.now() + 30 * 24 * 3_600_000);
  await expect(admin.rotateKey('default', last.key.id, 1, 0)).rejects.toThrow('more than 0');
  await expect(admin.rotateKey('default', last.key.id, 8)).rejects.toThrow('0 to 7 days');
  await expect(admin.rotateKey('default', old.key.id)).rejects.toThrow('has ended');
});

test('a configured key has the form of one, and stays the same over restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  await expect(testServer({ database, apiKey: 'key' })).rejects.toThrow('does not have the form of a key');
  const kept = await testServer({ database, apiKey: newApiKey('live') });
  await kept.server.close();
  await (await testServer({ database, apiKey: kept.apiKey })).ok('sessions.list');
});

test('a revoked key ends at once, and a leaked one can be ended by itself', async () => {
  const server = await testServer();
  const { admin } = server.server;
  const key = await admin.createKey('default', { name: 'agent' });
  await server.as(key.apiKey).ok('sessions.list');
  await admin.revokeKey('default', key.key.id);
  expect((await server.as(key.apiKey).refused('sessions.list')).status).toBe(401);
  const leaked = await admin.createKey('default', { name: 'leaked' });
  expect(await admin.revokeLeakedKey(leaked.apiKey)).toBe(true);
  expect((await server.as(leaked.apiKey).refused('sessions.list')).status).toBe(401);
  expect(await admin.revokeLeakedKey(newApiKey('live'))).toBe(false);
  await expect(admin.revokeKey('default', 'nobody')).rejects.toThrow('no key "nobody"');
});

test('a deployment can refuse test keys', async () => {
  const server = await testServer({ acceptTestKeys: false });
  expect((await server.refused('sessions.list')).status).toBe(401);
  const live = await server.server.admin.createKey('default', { name: 'live' });
  await server.as(live.apiKey).ok('sessions.list');
});

test.each([
  ['limited', {}],
  ['not limited', { rateLimit: false }],
] as const)(
  'where requests are %s the last use of a key is noted, and its digest is never shown',
  async (_, options) => {
    const server = await testServer(options);
    const { admin } = server.server;
    const { apiKey, key } = await admin.createKey('default', { name: 'agent' });
    expect(key.lastUsedMs).toBeNull();
    await server.as(apiKey).ok('sessions.list');
    const found = (await admin.keys('default')).find(({ id }) => id === key.id);
    expect(found?.lastUsedMs).toBeGreaterThan(0);
    expect(JSON.stringify(await admin.keys('default'))).not.toMatch(/digest|[0-9a-f]{64}/);
  },
);
