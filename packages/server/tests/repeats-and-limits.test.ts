import { afterEach, expect, test, vi } from 'vitest';
import { testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a request with an Idempotency-Key takes effect once', async () => {
  const server = await testServer();
  const options = { body: { name: 'Billing' }, headers: { 'idempotency-key': 'create-1' } };
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.ok('agents.create', options)));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect((await server.ok('agents.list')).items).toHaveLength(1);
});

test('a webhook created again under its Idempotency-Key shows the same secret', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const options = { body: { url: 'http://127.0.0.1:9/' }, headers: { 'idempotency-key': 'hook-1' } };
  const first = await server.ok('notificationChannels.create', options);
  expect(await server.ok('notificationChannels.create', options)).toEqual(first);
});

test('an Idempotency-Key belongs to one request, one endpoint and one tenant, for a day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer();
  const headers = { 'idempotency-key': 'k' };
  const first = await server.ok('agents.create', { body: { name: 'A' }, headers });
  expect(await server.refused('agents.create', { body: { name: 'B' }, headers })).toMatchObject({
    status: 409,
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
  await server.ok('policies.create', { body: { name: 'A', effect: 'deny' }, headers });
  await server.server.admin.createTenant('rival');
  const rival = await server.server.admin.createKey('rival', { name: 'r' });
  await server.as(rival.apiKey).ok('agents.create', { body: { name: 'B' }, headers });
  vi.setSystemTime(Date.now() + 24 * 3_600_000 + 1);
  const later = await server.ok('agents.create', { body: { name: 'A' }, headers });
  expect(later.id).not.toBe(first.id);
});

test('a request that failed can be mended under the same Idempotency-Key', async () => {
  const server = await testServer();
  const headers = { 'idempotency-key': 'k' };
  await server.ok('agents.create', { body: { id: 'a', name: 'A' } });
  const taken = await server.refused('agents.create', { body: { id: 'a', name: 'A' }, headers });
  expect(taken.code).toBe('ALREADY_EXISTS');
  await server.ok('agents.create', { body: { id: 'b', name: 'A' }, headers });
});

test.each(['', 'a b', 'x'.repeat(256), 'é'])('the Idempotency-Key %j is refused', async (key) => {
  const server = await testServer();
  const sent = encodeURIComponent(key) === key ? key : Buffer.from(key).toString('latin1');
  const error = await server.refused('agents.create', {
    body: { name: 'A' },
    headers: { 'idempotency-key': sent },
  });
  expect(error).toMatchObject({ status: 400, details: [{ path: 'idempotency-key' }] });
});

test('past the rate a key is told when to come back, and other keys are not touched', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer({ rateLimit: { requestsPerSecond: 0.1, burst: 3 } });
  const other = await server.server.admin.createKey('default', { name: 'other' });
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

test('of requests that arrive at once, exactly the burst passes', async () => {
  const server = await testServer({ rateLimit: { requestsPerSecond: 0.01, burst: 25 } });
  const responses = await Promise.all(Array.from({ length: 60 }, () => server.send('sessions.list')));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(25);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(35);
});
