import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Overview } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import type { ServerOptions } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import { changeRetention } from '../src/storage/retention/retention.ts';
import { maxActivityNames } from '../src/storage/stores/activity-change.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { addChannel, route } from './channels/channel-tools.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, readError, type TestServer, testServer } from './test-server.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Returns options of servers on one database of a test. */
async function database(): Promise<ServerOptions & { readonly database: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-overview-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'actlog.db') });
  return { ...options, database: options.database as string, apiKey: newApiKey('test') };
}

type Query = Readonly<Record<string, string>>;

function request(server: TestServer, query: Query = {}): Promise<Response> {
  const url = new URL('/server/v1/overview', server.server.url);
  url.search = new URLSearchParams(query).toString();
  return fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
}

async function overview(server: TestServer, query?: Query): Promise<Overview> {
  const response = await request(server, query);
  expect(response.status).toBe(200);
  return (await response.json()) as Overview;
}

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

function call(toolName: string, responseStatus: number) {
  return { payload: { toolName, argumentsHash: 'sha256:aa', responseStatus } };
}

test('counts calls, errors and denials of the tenant, its agents and its tools', async () => {
  const server = await testServer();
  await server.record(
    call('search', 200),
    call('search', 500),
    { ...call('refund', 403), agentId: 'mailer' },
    { category: 'llm_call', payload: { model: 'm', promptHash: 'sha256:aa', responseStatus: 500 } },
  );
  for (const interval of ['5m', 'hour', 'day']) {
    const { totals, series, agents, tools } = await overview(server, { interval });
    expect(totals).toMatchObject({ events: 4, calls: 3, errors: 1, denials: 1, sessions: 1 });
    expect(series.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
    expect(agents).toEqual([
      { name: 'billing-agent', calls: 2, errors: 1, denials: 0 },
      { name: 'mailer', calls: 1, errors: 0, denials: 1 },
    ]);
    expect(tools).toEqual([
      { name: 'search', calls: 2, errors: 1, denials: 0 },
      { name: 'refund', calls: 1, errors: 0, denials: 1 },
    ]);
  }
});

test('counts an event at its own time, and one from the future at its receipt', async () => {
  const server = await testServer();
  await server.record(
    { sourceTimestamp: ago(3 * dayMs), sessionId: 'past' },
    { sourceTimestamp: ago(-3 * dayMs), sessionId: 'future' },
  );
  expect((await overview(server)).totals.calls).toBe(1);
  expect((await overview(server, { interval: 'day', since: ago(5 * dayMs) })).totals.calls).toBe(2);
  const [first] = (await overview(server, { since: ago(3 * dayMs) })).series;
  expect(first?.calls).toBe(1);
});

test('counts a repeated event once', async () => {
  const server = await testServer();
  const event = activityEvent();
  await Promise.all([1, 2, 3].map(() => server.ok('events.create', { body: event })));
  await server.ok('events.create', { body: event });
  expect((await overview(server)).totals).toMatchObject({ events: 1, calls: 1, sessions: 1 });
});

test('counts each of many concurrent events once', async () => {
  const server = await testServer();
  const events = Array.from({ length: 300 }, (_, number) => ({
    agentId: `agent-${number % 7}`,
    sessionId: `session-${number % 30}`,
    ...call(`tool-${number % 5}`, number % 10 === 0 ? 500 : 200),
  }));
  await server.recordMany(events);
  const { totals, agents, tools } = await overview(server);
  expect(totals).toMatchObject({ events: 300, calls: 300, errors: 30, sessions: 30 });
  expect(totals.sessionsByLevel.low + totals.sessionsByLevel.medium).toBe(30);
  expect(agents.reduce((sum, { calls }) => sum + calls, 0)).toBe(300);
  expect(tools).toHaveLength(5);
});

test('counts sessions by the bucket of their start and by their current level', async () => {
  const server = await testServer();
  const sessionId = 'worse';
  await server.record({ sessionId, ...call('search', 200), sourceTimestamp: ago(2 * hourMs) });
  const before = await overview(server);
  expect(before.totals.sessionsByLevel).toEqual({ low: 1, medium: 0, high: 0, critical: 0 });
  for (const tool of ['fetch_web_page', 'read_secrets', 'list_customers', 'send_email', 'delete_audit_log']) {
    await server.record({ sessionId, ...call(tool, 200) });
  }
  // An earlier event moves the start of the session.
  await server.record({ sessionId, ...call('search', 200), sourceTimestamp: ago(5 * hourMs) });
  const { risk } = await server.ok('sessions.get', { id: sessionId });
  const after = await overview(server);
  expect(risk?.level).not.toBe('low');
  expect(after.totals.sessions).toBe(1);
  expect(after.totals.sessionsByLevel).toEqual({
    low: 0,
    medium: 0,
    high: 0,
    critical: 0,
    [risk?.level as string]: 1,
  });
  const started = after.series.findIndex(({ sessions }) => sessions !== 0);
  expect(after.series[started]?.at).toBe(
    new Date(Math.floor((Date.now() - 5 * hourMs) / hourMs) * hourMs).toISOString(),
  );
  expect(after.series.every(({ sessions }) => sessions >= 0)).toBe(true);
  expect(after.riskiestSessions).toMatchObject([
    { id: sessionId, agentId: 'billing-agent', eventCount: 7, risk },
  ]);
});

test('counts decisions without dry runs, held actions, and those that wait', async () => {
  const server = await testServer();
  await server.policy({ match: { tools: ['refund'] }, effect: 'require_approval' });
  await server.policy({ match: { tools: ['delete'] } });
  const check = (toolName: string, headers = {}) =>
    server.check({ action: { toolName, argumentsHash: 'sha256:aa' } }, headers);
  await check('search');
  await check('delete');
  await check('delete', { prefer: 'dry-run' });
  const held = await check('refund');
  const { totals, waitingActions } = await overview(server);
  expect(totals.decisions).toEqual({ allow: 1, deny: 1, require_approval: 1 });
  expect([totals.heldActions, waitingActions]).toEqual([1, 1]);
  await server.ok('guardian.pendingActions.decide', {
    id: held.pendingActionId as string,
    body: { decision: 'deny' },
  });
  const after = await overview(server);
  expect([after.totals.heldActions, after.waitingActions]).toEqual([1, 0]);
  expect(after.totals.events).toBe(0);
});

test('lists at most ten of the riskiest sessions, highest score first', async () => {
  const server = await testServer();
  for (let number = 0; number < 12; number += 1) {
    const sessionId = `session-${number}`;
    const tools = ['fetch_web_page', 'list_customers', 'send_email', 'delete_sent_mail'].slice(
      0,
      1 + (number % 4),
    );
    for (const tool of tools) await server.record({ sessionId, ...call(tool, 200) });
  }
  const { riskiestSessions } = await overview(server);
  const scores = riskiestSessions.map(({ risk }) => risk.score);
  expect(scores.length).toBeLessThanOrEqual(10);
  expect(scores).toEqual(scores.toSorted((left, right) => right - left));
  const all = (await server.ok('sessions.list', { query: { limit: 200 } })).items;
  expect(scores[0]).toBe(Math.max(...all.map(({ risk }) => risk?.score ?? 0)));
  expect(
    (await overview(server, { since: ago(-2 * hourMs), until: ago(-3 * hourMs) })).riskiestSessions,
  ).toEqual([]);
});

test('shows the state of webhooks', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { id } = await server.ok('notificationChannels.create', {
    body: { url: 'http://127.0.0.1:9/hook', events: ['guardian.action_pending'] },
  });
  await server.policy({ effect: 'require_approval' });
  await server.check();
  await expect
    .poll(async () => (await overview(server)).webhooks)
    .toEqual([
      {
        id,
        url: 'http://127.0.0.1:9/hook',
        status: 'active',
        failureCount: 1,
        failingSince: expect.any(String),
        lastDeliveryAt: null,
        waiting: 1,
        retrying: 1,
      },
    ]);
});

test('shows the channels whose messages do not arrive', async () => {
  const server = await testServer({
    publicUrl: 'https://actlog.example.com',
    webhookAllowedRanges: ['127.0.0.0/8'],
  });
  const settings = { url: 'http://127.0.0.1:9/workflows/a?sig=b' };
  const id = await addChannel(server, { kind: 'teams', name: 'ops', settings });
  expect((await overview(server)).failingChannels).toEqual([]);
  await route(server, 'POST', `/channels/${id}/disable`);
  expect((await overview(server)).failingChannels).toEqual([
    { id, kind: 'teams', name: 'ops', status: 'disabled', failingSince: null },
  ]);
});

test('keeps the counts of a limited number of names in a bucket, and those of the others together', async () => {
  const options = await database();
  const server = await testServer(options);
  const count = maxActivityNames + 30;
  const named = (number: number, status: number) => ({
    agentId: `agent-${number}`,
    ...call(`tool-${number}`, status),
  });
  await server.recordMany(Array.from({ length: count }, (_, number) => named(number, 200)));
  await server.recordMany(Array.from({ length: count }, (_, number) => named(number, 500)));
  expect((await overview(server)).totals).toMatchObject({ calls: 2 * count, errors: count });
  await server.server.close();
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  const rows = await storage.read(1, (db) =>
    db.selectFrom('activity').selectAll().where('tenant_id', '=', 1).where('span', '=', 'hour').execute(),
  );
  for (const kind of ['agent', 'tool']) {
    const ofKind = rows.filter((row) => row.kind === kind);
    for (const [bucketMs, ofBucket] of Map.groupBy(ofKind, (row) => row.bucket_ms)) {
      expect([bucketMs, ofBucket.length]).toEqual([bucketMs, maxActivityNames + 1]);
    }
    expect(ofKind.reduce((sum, row) => sum + Number(row.calls), 0)).toBe(2 * count);
  }
});

test('rejects a span that is empty or too long, unknown parameters and keys without the scope', async () => {
  const server = await testServer();
  const empty = await readError(await request(server, { since: ago(0), until: ago(hourMs) }));
  expect(empty).toMatchObject({ status: 400, details: [{ path: 'query.since', code: 'empty_range' }] });
  const long = await readError(await request(server, { since: ago(40 * dayMs) }));
  expect(long).toMatchObject({ status: 400, details: [{ path: 'query.since', code: 'range_too_long' }] });
  for (const query of [{ since: 'yesterday' }, { interval: 'week' }, { agentId: 'a' }]) {
    const refused = await readError(await request(server, query as Query));
    expect(refused.details[0]?.path).toBe(`query.${Object.keys(query)[0]}`);
  }
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
  });
  expect((await readError(await request(server.as(apiKey)))).code).toBe('PERMISSION_DENIED');
});

test('deletes counts that are past the retention of their tenant, or of their bucket', async () => {
  const options = await database();
  const server = await testServer(options);
  await server.record({ sourceTimestamp: ago(40 * dayMs) }, { sourceTimestamp: ago(10 * dayMs) }, {});
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  const spans = async () => {
    const rows = await storage.read(1, (db) =>
      db
        .selectFrom('activity')
        .select(['span', 'calls'])
        .where('tenant_id', '=', 1)
        .where('kind', '=', 'all')
        .execute(),
    );
    return Object.fromEntries(
      ['5m', 'hour', 'day'].map((span) => [
        span,
        rows.filter((row) => row.span === span).reduce((sum, { calls }) => sum + Number(calls), 0),
      ]),
    );
  };
  expect(await spans()).toEqual({ '5m': 1, hour: 2, day: 3 });
  await deleteExpiredData(storage, Date.now() + 30 * dayMs);
  expect(await spans()).toEqual({ '5m': 0, hour: 1, day: 3 });
  await storage.writeAcross('administer', ({ db }) => changeRetention(db, 1, { sessions: 20 }));
  await deleteExpiredData(storage, Date.now());
  expect(await spans()).toEqual({ '5m': 0, hour: 1, day: 2 });
});

test('shows a tenant only its own data', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.tenants.create('other');
  const other = server.as((await admin.keys.create('other', { name: 'k' })).apiKey);
  await Promise.all([server.record({ agentId: 'mine' }), other.record({ agentId: 'theirs' }, {})]);
  expect((await overview(server)).agents.map(({ name }) => name)).toEqual(['mine']);
  expect((await overview(other)).totals.calls).toBe(2);
});
