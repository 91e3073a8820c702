import { CompiledQuery } from 'kysely';
import { expect, test } from 'vitest';
import { maxWalkedSessions } from '../src/storage/sessions/session-list.ts';
import { type SessionListOptions, walkQuery } from '../src/storage/sessions/session-walk.ts';
import { allPages, type SeededSession, withSeededSessions } from './seeded-sessions.ts';
import { onPostgres } from './test-database.ts';
import { type TestServer, testServer } from './test-server.ts';

const levels = ['low', 'medium', 'high', 'critical'] as const;
const startMs = Date.UTC(2026, 10, 1);

/** Returns sessions of all kinds, newest first. Several have the same start or the same score. */
function sessionsOf(count: number): SeededSession[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${index % 7 === 0 ? 'Order' : 'chat'}-${String(index).padStart(5, '0')}`,
    startedMs: startMs + Math.floor(index / 3) * 1000,
    agentId: `agent-${index % 4}`,
    score: index % 50 === 7 ? null : ((index * 37) % 200) / 2,
    level: levels[index % 4] as 'low',
    tools: [`tool-${index % 5}`, ...(index % 90 === 0 ? ['rare'] : [])],
    hasErrors: index % 3 === 0,
    hasDenials: index % 10 === 0,
    hasHolds: index % 25 === 0,
  })).reverse();
}

type Query = Readonly<Record<string, string | number>>;

/** Returns the ids that a list must have, in its order. */
function expected(sessions: readonly SeededSession[], query: Query): string[] {
  const { sort, agentId, toolName, level, status, minRiskScore } = query;
  const [part, agentPart] = [query.idContains, query.agentIdContains].map((text) =>
    String(text ?? '').toLowerCase(),
  ) as [string, string];
  const flag = { errors: 'hasErrors', denied: 'hasDenials', held: 'hasHolds' } as const;
  const found = sessions.filter(
    (session) =>
      (agentId === undefined || session.agentId === agentId) &&
      (toolName === undefined || session.tools?.includes(String(toolName))) &&
      (level === undefined || (session.score !== null && session.level === level)) &&
      (status === undefined || session[flag[status as 'held']]) &&
      (minRiskScore === undefined || (session.score !== null && session.score >= Number(minRiskScore))) &&
      session.id.toLowerCase().includes(part) &&
      session.agentId.includes(agentPart) &&
      session.startedMs > Date.parse(String(query.startedAfter ?? '1970-01-01T00:00:00Z')),
  );
  const newest = (left: SeededSession, right: SeededSession) =>
    right.startedMs - left.startedMs || (left.id < right.id ? 1 : -1);
  const highest = (left: SeededSession, right: SeededSession) =>
    (right.score ?? -1) - (left.score ?? -1) || newest(left, right);
  return found.sort(sort === 'riskScore' ? highest : newest).map(({ id }) => id);
}

const filters: readonly Query[] = [
  {},
  { toolName: 'tool-3' },
  { toolName: 'rare' },
  { level: 'high' },
  { level: 'low' },
  { status: 'errors' },
  { status: 'denied' },
  { status: 'held' },
  { agentId: 'agent-1' },
  { agentIdContains: 'T-2' },
  { idContains: 'ORDER' },
  { minRiskScore: 60 },
  { startedAfter: new Date(startMs + 40_000).toISOString() },
];

test('lists by every pair of filters, by time and by risk, on small and large pages', async () => {
  const sessions = sessionsOf(300);
  const { server } = await withSeededSessions(sessions);
  let found = 0;
  for (const [index, one] of filters.entries()) {
    for (const other of filters.slice(index)) {
      for (const sort of ['startedAt', 'riskScore']) {
        const query = { ...one, ...other, sort };
        const ids = expected(sessions, query);
        found += ids.length;
        const limit = index % 2 === 0 ? 200 : 9;
        expect((await allPages(server, { ...query, limit })).ids, JSON.stringify(query)).toEqual(ids);
      }
    }
  }
  expect(found).toBeGreaterThan(1000);
});

test('ends a page after a bounded number of sessions, and continues on the next one', async () => {
  const sessions = sessionsOf(maxWalkedSessions * 2 + 500);
  const { server } = await withSeededSessions(sessions);
  const query = { idContains: 'chat-00001', limit: 10 };
  const first = await server.ok('sessions.list', { query });
  expect(first).toMatchObject({ items: [], nextCursor: expect.any(String) });
  expect(await allPages(server, query)).toEqual({ ids: ['chat-00001'], pages: 3 });
  const none = { agentIdContains: 'nobody', sort: 'riskScore', limit: 200 };
  expect(await allPages(server, none)).toEqual({ ids: [], pages: 3 });
});

const combinations: readonly Omit<SessionListOptions, 'tenantId' | 'limit'>[] = [
  {},
  { idContains: 'x' },
  { toolName: 'tool-1' },
  { agentId: 'agent-1' },
  { status: 'errors' },
  { status: 'denied' },
  { status: 'held' },
  { level: 'critical' },
  { level: 'low' },
  { toolName: 'tool-1', agentId: 'agent-1', level: 'high', status: 'held' },
].flatMap((filter) => [filter, { ...filter, sort: 'riskScore' as const, minRiskScore: 10 }]) as never;

test('walks an index for every combination of filters, without a scan or a sort', async () => {
  const { storage } = await withSeededSessions(sessionsOf(20_000));
  for (const options of combinations) {
    const after = { startedMs: startMs + 3_000_000, id: 's', rank: 70 };
    const query = walkQuery({ ...options, tenantId: 1, limit: 50 }, after, 51);
    const plan = await storage.read(1, async (db) => {
      if (onPostgres) {
        await db.executeQuery(CompiledQuery.raw('analyze sessions, session_agents, session_tools'));
      }
      const { sql, parameters } = query.compile(db);
      const explain = onPostgres ? 'explain (costs off)' : 'explain query plan';
      const { rows } = await db.executeQuery(CompiledQuery.raw(`${explain} ${sql}`, [...parameters]));
      return rows.map((row) => Object.values(row as object).at(-1) as string).join('\n');
    });
    const used = onPostgres ? /Index (Only )?Scan Backward using/ : /^SEARCH \w+ USING (COVERING )?INDEX/;
    expect(plan, JSON.stringify(options)).toMatch(used);
    expect(plan, JSON.stringify(options)).not.toMatch(/SCAN|Seq Scan|Sort|TEMP B-TREE/);
  }
});

async function listed(server: TestServer, query: Query): Promise<string[]> {
  return (await server.ok('sessions.list', { query })).items.map(({ id }) => id).sort();
}

test('finds sessions by what happened in them', async () => {
  const server = await testServer();
  const call = (sessionId: string, toolName: string, responseStatus = 200, agentId = 'bot') =>
    server.record({
      sessionId,
      agentId,
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
    });
  await call('plain', 'search');
  await call('failed', 'search', 500);
  await call('shared', 'search');
  await call('shared', 'send_email', 200, 'billing-helper');
  await server.policy({ effect: 'deny', match: { tools: ['drop_*'] } });
  await server.policy({ effect: 'require_approval', match: { tools: ['pay'] } });
  const check = (sessionId: string, toolName: string) =>
    server.check({ agentId: 'bot', sessionId, action: { toolName, argumentsHash: 'sha256:bb' } });
  await check('denied', 'drop_table');
  await check('held', 'pay');
  const { pendingActionId } = await check('refused', 'pay');
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  expect(await listed(server, { status: 'errors' })).toEqual(['failed']);
  expect(await listed(server, { status: 'denied' })).toEqual(['denied', 'refused']);
  expect(await listed(server, { status: 'held' })).toEqual(['held', 'refused']);
  expect(await listed(server, { toolName: 'send_email' })).toEqual(['shared']);
  expect(await listed(server, { toolName: 'SEND_EMAIL' })).toEqual([]);
  expect(await listed(server, { agentIdContains: 'BILLING' })).toEqual(['shared']);
  expect(await listed(server, { idContains: 'aiLe' })).toEqual(['failed']);
  const ofAgent = { id: 'bot', query: { toolName: 'search', status: 'errors' } };
  expect((await server.ok('agents.sessions', ofAgent)).items.map(({ id }) => id)).toEqual(['failed']);
});

test('finds a session by a tool beyond those that it lists, and at its new start', async () => {
  const server = await testServer();
  const at = (second: number) => new Date(startMs + second * 1000).toISOString();
  const call = (sessionId: string, toolName: string, second: number) => ({
    sessionId,
    sourceTimestamp: at(second),
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
  });
  await server.record(...Array.from({ length: 52 }, (_, index) => call('many', `tool-${index}`, 10 + index)));
  await server.record(call('other', 'tool-51', 5));
  expect((await server.ok('sessions.get', { id: 'many' })).toolNames).not.toContain('tool-51');
  const ids = async () =>
    (await server.ok('sessions.list', { query: { toolName: 'tool-51' } })).items.map(({ id }) => id);
  expect(await ids()).toEqual(['many', 'other']);
  await server.record(call('many', 'tool-0', 1));
  expect(await ids()).toEqual(['other', 'many']);
});

test('suggests agents and tools that contain a text', async () => {
  const server = await testServer();
  for (const [index, toolName] of ['send_email', 'read_email', 'search', 'send_email'].entries()) {
    const payload = { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ sessionId: `s${index}`, agentId: `bot-${index % 2}`, payload });
  }
  const suggestions = async (query: string) => {
    const response = await fetch(`${server.server.url}/server/v1/suggestions?${query}`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    return ((await response.json()) as { items?: string[] }).items;
  };
  expect(await suggestions('field=toolName&contains=EMAIL')).toEqual(['read_email', 'send_email']);
  expect(await suggestions('field=toolName')).toEqual(['read_email', 'search', 'send_email']);
  expect(await suggestions('field=agentId&contains=1')).toEqual(['bot-1']);
  expect(await suggestions('field=level')).toBeUndefined();
});

test.each([
  ['sort', 'risk'],
  ['level', 'severe'],
  ['status', 'failed'],
  ['toolName', ''],
  ['idContains', 'x'.repeat(201)],
])('rejects an invalid %s, naming the parameter', async (field, value) => {
  const server = await testServer();
  const { code, details } = await server.refused('sessions.list', { query: { [field]: value } });
  expect(code).toBe('VALIDATION_ERROR');
  expect(details[0]?.path).toBe(`query.${field}`);
});

test('rejects the cursor of a list with another order', async () => {
  const { server } = await withSeededSessions(sessionsOf(10));
  const { nextCursor } = await server.ok('sessions.list', { query: { sort: 'riskScore', limit: 2 } });
  const query = { limit: 2, cursor: nextCursor as string };
  expect((await server.refused('sessions.list', { query })).code).toBe('VALIDATION_ERROR');
});
