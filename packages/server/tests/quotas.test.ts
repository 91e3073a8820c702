import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { deleteExpiredData, dropExpiredSessions } from '../src/background/background-tasks.ts';
import type { QuotaChanges } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, checkBody, type TestServer, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Returns options of servers that share one database. */
async function sharedDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-quota-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return { ...(await withTestDatabase({ database: join(folder, 'quota.db') })), apiKey: newApiKey('test') };
}

/** Sends events concurrently, and counts the responses by status. */
async function statuses(
  servers: readonly TestServer[],
  bodies: readonly object[],
): Promise<Record<number, number>> {
  const responses = await Promise.all(
    bodies.map(async (body, index) => {
      const response = await (servers[index % servers.length] as TestServer).send('events.create', { body });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return Object.fromEntries(
    [...Map.groupBy(responses, (status) => status)].map(([status, same]) => [status, same.length]),
  );
}

function events(count: number, fields: (index: number) => object = () => ({})): object[] {
  return Array.from({ length: count }, (_, index) => activityEvent(fields(index)));
}

test('refuses events beyond the monthly quota until the next month; a repeat needs no room', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 31, 23, 0, 0) });
  const server = await testServer({});
  await server.server.admin.tenants.setQuota(server.tenant, { eventsPerMonth: 2 });
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
  expect((await server.server.admin.tenants.quota(server.tenant)).eventsPerMonth).toEqual({
    used: 2,
    max: 2,
  });
  const shown = await (await fetch(`${server.server.url}/metrics`)).text();
  expect(shown).toContain('actlog_quota_refusals_total{quota="eventsPerMonth"} 1\n');
  vi.setSystemTime(Date.UTC(2027, 0, 1, 0, 0, 0));
  await server.record({});
  expect((await server.server.admin.tenants.quota(server.tenant)).eventsPerMonth).toEqual({
    used: 1,
    max: 2,
  });
});

test.each([
  ['small', 50],
  ['ample', 10_000_000],
])('stores exactly as many concurrent events on two servers as a quota that is %s allows', async (_, max) => {
  const options = await sharedDatabase();
  const servers = [await testServer(options), await testServer(options)];
  const [server] = servers as [TestServer, TestServer];
  await server.server.admin.tenants.setQuota(server.tenant, { eventsPerMonth: max });
  const bodies = events(120, (index) => ({ sessionId: `s-${index % 9}` }));
  const taken = Math.min(max, bodies.length);
  const repeated = [...bodies, ...bodies.slice(0, 20)];
  const counts = await statuses(servers, repeated);
  expect(counts[202]).toBeGreaterThanOrEqual(taken);
  expect((counts[202] ?? 0) + (counts[429] ?? 0)).toBe(repeated.length);
  const { items } = await server.ok('sessions.list');
  expect(items.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(taken);
  expect((await server.server.admin.tenants.quota(server.tenant)).eventsPerMonth.used).toBe(taken);
});

test('refuses a session beyond the quota, continues stored ones, and frees room by retention', async () => {
  const options = await sharedDatabase();
  const server = await testServer(options);
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { sessions: 3 });
  const counts = await statuses(
    [server],
    events(40, (index) => ({ sessionId: `s-${index % 8}` })),
  );
  expect(counts).toEqual({ 202: 15, 429: 25 });
  const [stored] = (await server.ok('sessions.list')).items;
  await server.record({ sessionId: stored?.id as string });
  const refused = await server.refused('events.create', { body: activityEvent({ sessionId: 'another' }) });
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(refused.message).toContain('quota sessions of the tenant, 3 stored sessions');
  // The path tells the sender that other sessions may continue.
  expect(refused.details).toMatchObject([{ path: 'sessionId', code: 'quota_exceeded' }]);
  expect(refused.headers.get('retry-after')).toBe('3600');
  await admin.tenants.setRetention('default', { sessions: 1 });
  const storage = await openStorage({ database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  expect(await dropExpiredSessions(storage, Date.now() + 2 * 86_400_000)).toBe(3);
  expect((await admin.tenants.quota('default')).sessions).toEqual({ used: 0, max: 3 });
  await admin.tenants.setRetention('default', { sessions: null });
  await server.record({ sessionId: 'another' });
});

test('does not let one tenant at its quota delay another', async () => {
  const server = await testServer({});
  const { admin } = server.server;
  await admin.tenants.create('rival');
  const rival = server.as((await admin.keys.create('rival', { name: 'r' })).apiKey);
  await admin.tenants.setQuota('default', { eventsPerMonth: 0 });
  expect(await statuses([server, rival], events(60))).toEqual({ 202: 30, 429: 30 });
  expect((await admin.tenants.quota('rival')).eventsPerMonth).toEqual({ used: 30, max: 100_000_000 });
});

test('limits policies and webhooks, even when created concurrently', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { policies: 2, channels: 1 });
  const policies = await Promise.all(
    Array.from({ length: 5 }, (_, index) =>
      server.send('policies.create', { body: { name: `p${index}`, effect: 'deny' } }),
    ),
  );
  expect(policies.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429]);
  const created = policies.find(({ status }) => status === 201) as Response;
  await server.ok('policies.archive', { id: ((await created.json()) as { id: string }).id });
  await server.policy();
  const body = { url: 'http://127.0.0.1:9/' };
  const channels = await Promise.all(
    [1, 2, 3].map(() => server.send('notificationChannels.create', { body })),
  );
  expect(channels.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
  const refused = await server.refused('notificationChannels.create', { body });
  expect(refused.message).toContain('quota channels of the tenant, 1 active webhooks');
  await admin.tenants.setQuota('default', { channels: null });
  await server.ok('notificationChannels.create', { body });
  expect(await admin.tenants.quota('default')).toMatchObject({
    policies: { used: 2, max: 2 },
    channels: { used: 2, max: null },
  });
});

test.each(['eventsPerMonth', 'checksPerMonth', 'sessions', 'agents'] as const)(
  'denies without a record, and without effects, where the quota %s has no room',
  async (name) => {
    const server = await testServer({});
    const { admin } = server.server;
    await admin.tenants.setQuota('default', { [name]: 0 });
    await server.policy({ effect: 'deny' });
    expect(await server.check({ actionId: randomUUID() })).toMatchObject({ decision: 'deny' });
    const use = await admin.tenants.quota('default');
    expect([use.eventsPerMonth.used, use.sessions.used, use.agents.used, use.checksPerMonth.used]).toEqual([
      0, 0, 0, 0,
    ]);
    const shown = await (await fetch(`${server.server.url}/metrics`)).text();
    expect(shown).toContain(`actlog_quota_refusals_total{quota="${name}"} 1\n`);
    await admin.tenants.setQuota('default', { [name]: 'default' });
    await server.check({ actionId: randomUUID() });
    const after = await admin.tenants.quota('default');
    expect([
      after.eventsPerMonth.used,
      after.sessions.used,
      after.agents.used,
      after.checksPerMonth.used,
    ]).toEqual([1, 1, 1, 1]);
  },
);

test('refuses a check that must be counted or held where no quota has room to record it', async () => {
  const server = await testServer({});
  await server.server.admin.tenants.setQuota(server.tenant, { checksPerMonth: 1 });
  await server.policy({ rate: { max: 5, windowSeconds: 60, per: 'agent' } });
  expect(await server.check({ actionId: 'first' })).toMatchObject({ decision: 'allow' });
  const refused = await server.refused('policies.check', { body: checkBody({ actionId: 'second' }) });
  expect(refused).toMatchObject({ status: 429, details: [{ code: 'quota_exceeded' }] });
  // A recorded check can be repeated.
  expect(await server.check({ actionId: 'first' })).toMatchObject({ decision: 'allow' });
});

test('records a decision about a held action beyond all quotas', async () => {
  const server = await testServer({});
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ actionId: 'held' });
  await admin.tenants.setQuota('default', {
    eventsPerMonth: 0,
    checksPerMonth: 0,
    sessions: 0,
    agents: 0,
    heldActions: 0,
  });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  expect(await server.check({ actionId: 'held' })).toMatchObject({ decision: 'allow' });
  const { eventsPerMonth, heldActions } = await admin.tenants.quota('default');
  expect([eventsPerMonth.used, heldActions.used]).toEqual([2, 0]);
});

test('adds exactly as many agents from concurrent events on two servers as the quota allows', async () => {
  const options = await sharedDatabase();
  const servers = [await testServer(options), await testServer(options)];
  const [server] = servers as [TestServer, TestServer];
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { agents: 7 });
  const bodies = events(120, (index) => ({ agentId: `bot-${index % 20}`, sessionId: `s-${index % 20}` }));
  expect(await statuses(servers, bodies)).toEqual({ 202: 42, 429: 78 });
  expect((await server.ok('agents.list')).items).toHaveLength(7);
  expect((await admin.tenants.quota('default')).agents).toEqual({ used: 7, max: 7 });
  const refused = await server.refused('events.create', { body: activityEvent({ agentId: 'another' }) });
  expect(refused).toMatchObject({ status: 429, details: [{ path: 'agentId', code: 'quota_exceeded' }] });
  expect(refused.message).toContain('quota agents of the tenant, 7 agents, registered or seen, is used up');
  const body = { id: 'registered', name: 'Another' };
  expect((await server.refused('agents.create', { body })).status).toBe(429);
  const [known] = (await server.ok('agents.list')).items;
  await server.ok('agents.create', { body: { id: known?.id, name: 'Known' } });
  await admin.tenants.setQuota('default', { agents: 8 });
  await server.ok('agents.create', { body });
  expect((await admin.tenants.quota('default')).agents.used).toBe(8);
});

test('limits the total metadata of agents, even when written concurrently', async () => {
  const options = await sharedDatabase();
  const servers = [await testServer(options), await testServer(options)];
  const [server] = servers as [TestServer, TestServer];
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { metadataBytes: 2500 });
  const metadata = { note: 'é'.repeat(494) };
  const created = await Promise.all(
    ['a', 'b', 'c', 'd'].map((id, index) =>
      (servers[index % 2] as TestServer).send('agents.create', { body: { id, name: id, metadata } }),
    ),
  );
  expect(created.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429]);
  expect((await admin.tenants.quota('default')).metadataBytes).toEqual({ used: 1998, max: 2500 });
  const [agent] = (await server.ok('agents.list')).items;
  const id = agent?.id as string;
  const refused = await server.refused('agents.update', {
    id,
    body: { metadata: { more: 'x'.repeat(600) } },
  });
  expect(refused).toMatchObject({ status: 429, details: [{ path: 'metadata', code: 'quota_exceeded' }] });
  await server.ok('agents.update', { id, body: { metadata: null } });
  expect((await admin.tenants.quota('default')).metadataBytes.used).toBe(999);
  await server.ok('agents.update', { id, body: { metadata: { more: 'x'.repeat(600) } } });
});

test('holds exactly as many concurrent actions on two servers as the quota allows', async () => {
  const options = await sharedDatabase();
  const servers = [await testServer(options), await testServer(options)];
  const [server] = servers as [TestServer, TestServer];
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval' });
  await admin.tenants.setQuota('default', { heldActions: 5 });
  const responses = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      (servers[index % 2] as TestServer).send('policies.check', {
        body: checkBody({ actionId: `action ${index}`, sessionId: `s-${index % 7}` }),
      }),
    ),
  );
  const held = responses.filter(({ status }) => status === 200);
  expect(held).toHaveLength(5);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(25);
  expect((await server.ok('guardian.pendingActions.list')).items).toHaveLength(5);
  const body = checkBody({ actionId: 'one more' });
  const refused = await server.refused('policies.check', { body });
  expect(refused.message).toContain('5 actions that wait for a decision, is used up. Decide pending actions');
  const { pendingActionId } = (await (held[0] as Response).json()) as { pendingActionId: string };
  await server.ok('guardian.pendingActions.decide', { id: pendingActionId, body: { decision: 'deny' } });
  expect((await admin.tenants.quota('default')).heldActions).toEqual({ used: 4, max: 5 });
  expect(await server.ok('policies.check', { body })).toMatchObject({ decision: 'require_approval' });
});

test('limits the bytes of held actions: of one, and of all', async () => {
  const options = await sharedDatabase();
  const server = await testServer(options);
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval' });
  const check = (actionId: string, length: number) => ({
    body: checkBody({
      actionId,
      action: { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { note: 'é'.repeat(length) } },
    }),
  });
  const tooLarge = await server.refused('policies.check', check('large', 33_000));
  expect(tooLarge).toMatchObject({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    details: [{ path: 'action.arguments', code: 'too_big' }],
  });
  expect((await admin.tenants.quota('default')).heldActionBytes.used).toBe(0);
  await admin.tenants.setQuota('default', { heldActionBytes: 45_000 });
  const { pendingActionId } = await server.ok('policies.check', check('first', 10_000));
  await server.ok('policies.check', check('second', 10_000));
  const { used } = (await admin.tenants.quota('default')).heldActionBytes;
  expect(used).toBeGreaterThan(40_000);
  expect((await server.refused('policies.check', check('third', 10_000))).status).toBe(429);
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  // A decided action is kept, with its displayed arguments, until retention deletes it.
  expect((await server.refused('policies.check', check('third', 10_000))).status).toBe(429);
  await admin.tenants.setRetention('default', { approvals: 183 });
  const storage = await openStorage({ database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  await deleteExpiredData(storage, Date.now() + 184 * 86_400_000);
  expect((await admin.tenants.quota('default')).heldActionBytes.used).toBe(used / 2);
  expect((await server.ok('policies.check', check('third', 10_000))).decision).toBe('require_approval');
});

test('limits archived policies and disabled webhooks, too', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { storedPolicies: 2, storedChannels: 1 });
  for (const _ of [1, 2]) await server.ok('policies.archive', { id: (await server.policy()).id });
  const policy = await server.refused('policies.create', { body: { name: 'p', effect: 'deny' } });
  expect(policy.message).toContain('quota storedPolicies of the tenant, 2 policies, archived ones included');
  const body = { url: 'http://127.0.0.1:9/' };
  const { id } = await server.ok('notificationChannels.create', { body });
  await admin.webhooks.disable('default', id);
  const channel = await server.refused('notificationChannels.create', { body });
  expect(channel.message).toContain('quota storedChannels of the tenant, 1 webhooks, disabled ones included');
});

test('has default quotas that the operator changes for all tenants or for one', async () => {
  const server = await testServer({ quotas: { policies: 1, channels: null } });
  const { admin } = server.server;
  expect(await admin.tenants.quota('default')).toEqual({
    eventsPerMonth: { used: 0, max: 100_000_000 },
    checksPerMonth: { used: 0, max: 100_000_000 },
    sessions: { used: 0, max: 10_000_000 },
    agents: { used: 0, max: 100_000 },
    metadataBytes: { used: 0, max: 100_000_000 },
    heldActions: { used: 0, max: 1000 },
    heldActionBytes: { used: 0, max: 1_000_000_000 },
    decisions: { used: 0, max: 10_000_000 },
    auditEntries: { used: 0, max: 1_000_000 },
    policies: { used: 0, max: 1 },
    policyCost: { used: 0, max: 500_000 },
    storedPolicies: { used: 0, max: 10_000 },
    channels: { used: 0, max: null },
    storedChannels: { used: 0, max: 1000 },
    judgments: { used: 0, max: 500 },
    storedJudgments: { used: 0, max: 10_000 },
  });
  await server.policy();
  const body = { name: 'p', effect: 'deny' };
  expect((await server.refused('policies.create', { body })).status).toBe(429);
  await admin.tenants.setQuota('default', { policies: null });
  await server.policy();
  expect((await admin.tenants.quota('default')).policies).toEqual({ used: 2, max: null });
  await admin.tenants.setQuota('default', { policies: 'default' });
  expect((await admin.tenants.quota('default')).policies).toEqual({ used: 2, max: 1 });
});

test('refuses an unknown quota of the deployment, and names the known ones', async () => {
  const quotas = { session: 5 } as object;
  await expect(testServer({ quotas })).rejects.toThrow(
    /quotas.*must name quotas; the quotas are: eventsPerMonth/s,
  );
});

test.each(['memory', 'a file'])('applies quotas of the deployment to events in %s', async (where) => {
  const options = where === 'memory' ? {} : await sharedDatabase();
  const server = await testServer({ ...options, quotas: { eventsPerMonth: 1 } });
  await server.record({});
  expect((await server.refused('events.create', { body: activityEvent() })).status).toBe(429);
});

test.each<[object, string]>([
  [{ events: 5 }, 'There is no quota "events"; the quotas are: eventsPerMonth,'],
  [{ policies: -1 }, '"policies" must be a whole number of at least 0, not -1'],
  [{ sessions: 1.5 }, '"sessions" must be a whole number'],
])('refuses the invalid quota %j with a reason', async (changes, reason) => {
  const { admin } = (await testServer({})).server;
  await expect(admin.tenants.setQuota('default', changes as QuotaChanges)).rejects.toThrow(reason);
  await expect(admin.tenants.setQuota('nobody', {})).rejects.toThrow('There is no tenant "nobody"');
});

test('limits by default everything that a key can make grow', async () => {
  const { server } = await testServer({});
  const quotas = await server.admin.tenants.quota('default');
  expect(Object.fromEntries(Object.entries(quotas).map(([name, { max }]) => [name, max]))).toEqual({
    eventsPerMonth: 100_000_000,
    checksPerMonth: 100_000_000,
    sessions: 10_000_000,
    agents: 100_000,
    metadataBytes: 100_000_000,
    heldActions: 1000,
    heldActionBytes: 1_000_000_000,
    decisions: 10_000_000,
    auditEntries: 1_000_000,
    policies: 1000,
    policyCost: 500_000,
    storedPolicies: 10_000,
    channels: 20,
    storedChannels: 1000,
    judgments: 500,
    storedJudgments: 10_000,
  });
});
