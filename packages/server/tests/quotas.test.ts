import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { dropOutdatedSessions } from '../src/housekeeping.ts';
import type { QuotaChanges } from '../src/index.ts';
import { newApiKey } from '../src/keys/api-key.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Options of servers that share one database. */
async function sharedDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-quota-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return { ...(await withTestDatabase({ database: join(folder, 'quota.db') })), apiKey: newApiKey('test') };
}

/** Sends events all at once, and counts the answers by their status. */
async function statuses(
  servers: readonly TestServer[],
  bodies: readonly object[],
): Promise<Record<number, number>> {
  const answers = await Promise.all(
    bodies.map(async (body, index) => {
      const response = await (servers[index % servers.length] as TestServer).send('events.create', { body });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return Object.fromEntries(
    [...Map.groupBy(answers, (status) => status)].map(([status, same]) => [status, same.length]),
  );
}

function events(count: number, fields: (index: number) => object = () => ({})): object[] {
  return Array.from({ length: count }, (_, index) => activityEvent(fields(index)));
}

test('events beyond those of the month are refused until the next one; a repeat takes no room', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 31, 23, 0, 0) });
  const server = await testServer();
  await server.server.admin.setQuota('default', { eventsPerMonth: 2 });
  const first = activityEvent();
  await server.record(first, {});
  const refused = await server.refused('events.create', { body: activityEvent() });
  expect(refused).toMatchObject({
    status: 429,
    code: 'RATE_LIMITED',
    details: [{ path: '', code: 'quota_exceeded' }],
  });
  expect(refused.message).toMatch(
    /quota eventsPerMonth of the tenant, 2 events a month, is used up.*next month/,
  );
  expect(Number(refused.headers.get('retry-after'))).toBe(3600);
  await server.record(first);
  expect((await server.server.admin.quota('default')).eventsPerMonth).toEqual({ used: 2, max: 2 });
  const shown = await (await fetch(`${server.server.url}/metrics`)).text();
  expect(shown).toContain('actlog_quota_refusals_total{quota="eventsPerMonth"} 1\n');
  vi.setSystemTime(Date.UTC(2027, 0, 1, 0, 0, 0));
  await server.record({});
  expect((await server.server.admin.quota('default')).eventsPerMonth).toEqual({ used: 1, max: 2 });
});

test.each([
  ['small', 50],
  ['ample', 10_000_000],
])(
  'of events that two servers take at once exactly as many are stored as a quota says that is %s',
  async (_, max) => {
    const options = await sharedDatabase();
    const servers = [await testServer(options), await testServer(options)];
    const [server] = servers as [TestServer, TestServer];
    await server.server.admin.setQuota('default', { eventsPerMonth: max });
    const bodies = events(120, (index) => ({ sessionId: `s-${index % 9}` }));
    const taken = Math.min(max, bodies.length);
    const repeated = [...bodies, ...bodies.slice(0, 20)];
    const answered = await statuses(servers, repeated);
    expect(answered[202]).toBeGreaterThanOrEqual(taken);
    expect((answered[202] ?? 0) + (answered[429] ?? 0)).toBe(repeated.length);
    const { items } = await server.ok('sessions.list');
    expect(items.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(taken);
    expect((await server.server.admin.quota('default')).eventsPerMonth.used).toBe(taken);
  },
);

test('a session beyond the quota is refused, one that is stored goes on, and retention makes room', async () => {
  const options = await sharedDatabase();
  const server = await testServer(options);
  const { admin } = server.server;
  await admin.setQuota('default', { sessions: 3 });
  const answered = await statuses(
    [server],
    events(40, (index) => ({ sessionId: `s-${index % 8}` })),
  );
  expect(answered).toEqual({ 202: 15, 429: 25 });
  const [stored] = (await server.ok('sessions.list')).items;
  await server.record({ sessionId: stored?.id as string });
  const refused = await server.refused('events.create', { body: activityEvent({ sessionId: 'another' }) });
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(refused.message).toContain('quota sessions of the tenant, 3 stored sessions');
  // Who sends knows by it that other sessions may go on.
  expect(refused.details).toMatchObject([{ path: 'sessionId', code: 'quota_exceeded' }]);
  expect(refused.headers.get('retry-after')).toBe('3600');
  await admin.setRetention('default', 1);
  const storage = await openStorage({ database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  expect(await dropOutdatedSessions(storage, Date.now() + 2 * 86_400_000)).toBe(3);
  expect((await admin.quota('default')).sessions).toEqual({ used: 0, max: 3 });
  await admin.setRetention('default', null);
  await server.record({ sessionId: 'another' });
});

test('one tenant at its quota does not hold up another', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.createTenant('rival');
  const rival = server.as((await admin.createKey('rival', { name: 'r' })).apiKey);
  await admin.setQuota('default', { eventsPerMonth: 0 });
  expect(await statuses([server, rival], events(60))).toEqual({ 202: 30, 429: 30 });
  expect((await admin.quota('rival')).eventsPerMonth).toEqual({ used: 30, max: null });
});

test('policies and webhooks are bounded, also when they are made at once', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { admin } = server.server;
  await admin.setQuota('default', { policies: 2, channels: 1 });
  const policies = await Promise.all(
    Array.from({ length: 5 }, (_, index) =>
      server.send('policies.create', { body: { name: `p${index}`, effect: 'deny' } }),
    ),
  );
  expect(policies.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429]);
  const made = policies.find(({ status }) => status === 201) as Response;
  await server.ok('policies.archive', { id: ((await made.json()) as { id: string }).id });
  await server.policy();
  const body = { url: 'http://127.0.0.1:9/' };
  const channels = await Promise.all(
    [1, 2, 3].map(() => server.send('notificationChannels.create', { body })),
  );
  expect(channels.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
  const refused = await server.refused('notificationChannels.create', { body });
  expect(refused.message).toContain('quota channels of the tenant, 1 active webhooks');
  await admin.setQuota('default', { channels: null });
  await server.ok('notificationChannels.create', { body });
  expect(await admin.quota('default')).toMatchObject({
    policies: { used: 2, max: 2 },
    channels: { used: 2, max: null },
  });
});

test('what the service records itself is counted, and never refused', async () => {
  const server = await testServer();
  await server.server.admin.setQuota('default', { eventsPerMonth: 0, sessions: 0 });
  await server.policy({ effect: 'deny' });
  expect(await server.check({ actionId: randomUUID() })).toMatchObject({ decision: 'deny' });
  const { eventsPerMonth, sessions } = await server.server.admin.quota('default');
  expect([eventsPerMonth.used, sessions.used]).toEqual([1, 1]);
});

test.each<[object, string]>([
  [{ events: 5 }, 'There is no quota "events"; there are: eventsPerMonth,'],
  [{ policies: -1 }, '"policies" must be a whole number of at least 0, not -1'],
  [{ sessions: 1.5 }, '"sessions" must be a whole number'],
])('a quota that cannot be taken is refused with a reason: %j', async (changes, reason) => {
  const { admin } = (await testServer()).server;
  await expect(admin.setQuota('default', changes as QuotaChanges)).rejects.toThrow(reason);
  await expect(admin.setQuota('nobody', {})).rejects.toThrow('There is no tenant "nobody"');
});
