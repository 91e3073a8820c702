import { afterEach, expect, test, vi } from 'vitest';
import { testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('applies a request with an Idempotency-Key once', async () => {
  const server = await testServer();
  const options = { body: { name: 'Billing' }, headers: { 'idempotency-key': 'create-1' } };
  const responses = await Promise.all(Array.from({ length: 8 }, () => server.ok('agents.create', options)));
  expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  expect((await server.ok('agents.list')).items).toHaveLength(1);
});

test('shows the same secret when a webhook is created again with its Idempotency-Key', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const options = { body: { url: 'http://127.0.0.1:9/' }, headers: { 'idempotency-key': 'hook-1' } };
  const first = await server.ok('notificationChannels.create', options);
  expect(await server.ok('notificationChannels.create', options)).toEqual(first);
});

test('binds an Idempotency-Key to one request, endpoint and tenant, for a day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer();
  const headers = { 'idempotency-key': 'k' };
  const first = await server.ok('agents.create', { body: { name: 'A' }, headers });
  expect(await server.refused('agents.create', { body: { name: 'B' }, headers })).toMatchObject({
    status: 409,
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
  await server.ok('policies.create', { body: { name: 'A', effect: 'deny' }, headers });
  await server.server.admin.tenants.create('rival');
  const rival = await server.server.admin.keys.create('rival', { name: 'r' });
  await server.as(rival.apiKey).ok('agents.create', { body: { name: 'B' }, headers });
  vi.setSystemTime(Date.now() + 24 * 3_600_000 + 1);
  const later = await server.ok('agents.create', { body: { name: 'A' }, headers });
  expect(later.id).not.toBe(first.id);
});

test('accepts a fixed request with the Idempotency-Key of a failed one', async () => {
  const server = await testServer();
  const headers = { 'idempotency-key': 'k' };
  await server.ok('agents.create', { body: { id: 'a', name: 'A' } });
  const taken = await server.refused('agents.create', { body: { id: 'a', name: 'A' }, headers });
  expect(taken.code).toBe('ALREADY_EXISTS');
  await server.ok('agents.create', { body: { id: 'b', name: 'A' }, headers });
});

test.each(['', 'a b', 'x'.repeat(256), 'é'])('refuses the Idempotency-Key %j', async (key) => {
  const server = await testServer();
  const sent = encodeURIComponent(key) === key ? key : Buffer.from(key).toString('latin1');
  const error = await server.refused('agents.create', {
    body: { name: 'A' },
    headers: { 'idempotency-key': sent },
  });
  expect(error).toMatchObject({ status: 400, details: [{ path: 'idempotency-key' }] });
});

test('returns Retry-After beyond the rate of a key, and does not affect other keys', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer({ rateLimit: { requestsPerSecond: 0.1, burst: 3 } });
  const other = await server.server.admin.keys.create(server.tenant, { name: 'other' });
  const first = await server.send('sessions.list');
  expect(first.headers.get('ratelimit-policy')).toBe('"key";q=3;w=30');
  expect(first.headers.get('ratelimit')).toBe('"key";r=2;t=10');
  await server.ok('sessions.list');
  await server.ok('sessions.list');
  const error = await server.refused('sessions.list');
  expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(error.headers.get('retry-after')).toBe('10');
  await server.as(other.apiKey).ok('sessions.list');
  vi.setSystemTime(Date.now() + 10_000);
  await server.ok('sessions.list');
  expect((await server.refused('sessions.list')).status).toBe(429);
});

test('admits exactly the burst of concurrent requests', async () => {
  const server = await testServer({ rateLimit: { requestsPerSecond: 0.01, burst: 25 } });
  const responses = await Promise.all(Array.from({ length: 60 }, () => server.send('sessions.list')));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(25);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(35);
});
