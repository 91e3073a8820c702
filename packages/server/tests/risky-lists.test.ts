import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import { riskySessions } from '../src/storage/sessions/session-list.ts';
import { allPages, type SeededSession, withSeededSessions } from './seeded-sessions.ts';
import { onPostgres } from './test-database.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';

const total = 400;

/** Returns sessions with many scores, newest first. Several start at the same time, and some are not scored yet. */
function sessionsOf(count: number): SeededSession[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `s-${String(index).padStart(5, '0')}`,
    startedMs: Date.UTC(2026, 10, 1) + Math.floor(index / 3) * 1000,
    agentId: `agent-${index % 3}`,
    score: index % 50 === 7 ? null : index === 11 ? 100 : ((index * 37) % 1000) / 10,
  })).reverse();
}

const scored = sessionsOf(total);

const withScores = (sessions: readonly SeededSession[] = scored) => withSeededSessions(sessions);

const pages = async (server: TestServer, query: Record<string, string | number>) =>
  (await allPages(server, query)).ids;

function expected(minRiskScore: number, keeps: (session: SeededSession) => boolean = () => true): string[] {
  return scored
    .filter((session) => session.score !== null && session.score >= minRiskScore && keeps(session))
    .map(({ id }) => id);
}

test('lists all risky sessions in order, whatever the score', async () => {
  const { server } = await withScores();
  for (const minRiskScore of [0, 0.5, 1, 37.5, 50, 98.9, 99, 100]) {
    for (const limit of [7, 200]) {
      expect(await pages(server, { minRiskScore, limit })).toEqual(expected(minRiskScore));
    }
    const ofAgent = { minRiskScore, limit: 9, agentId: 'agent-2' };
    expect(await pages(server, ofAgent)).toEqual(
      expected(minRiskScore, ({ agentId }) => agentId === 'agent-2'),
    );
  }
  expect(expected(99)).not.toEqual([]);
  const [from, to] = [Date.UTC(2026, 10, 1, 0, 0, 20), Date.UTC(2026, 10, 1, 0, 1, 40)];
  const between = {
    minRiskScore: 60,
    limit: 5,
    startedAfter: new Date(from).toISOString(),
    startedBefore: new Date(to).toISOString(),
  };
  expect(await pages(server, between)).toEqual(
    expected(60, ({ startedMs }) => startedMs > from && startedMs < to),
  );
});

test.each([
  ['sessions_by_risk', undefined],
  ['session_agents_by_risk', 'agent-1'],
])('finds risky sessions by %s, without reading others', async (index, agentId) => {
  const { storage } = await withScores(sessionsOf(20_000));
  const plan = await storage.read(1, async (db) => {
    // PostgreSQL would do this itself at some point.
    if (onPostgres) await db.executeQuery(CompiledQuery.raw('analyze sessions, session_agents'));
    const after = { startedMs: Date.UTC(2026, 10, 2), id: 's' };
    const options = { tenantId: 1, agentId, minRiskScore: 62.5, after, limit: 51 };
    const query = riskySessions(db, options, sql`sessions.*`).compile(db);
    const explain = onPostgres ? 'explain (costs off)' : 'explain query plan';
    const { rows } = await db.executeQuery(
      CompiledQuery.raw(`${explain} ${query.sql}`, [...query.parameters]),
    );
    return rows.map((row) => Object.values(row as object).at(-1) as string);
  });
  expect(plan.join('\n')).toContain(index);
  const places = plan.filter((step) =>
    /^SEARCH session|Index .*on session/.test(step.trim().replace(/^->\s*/, '')),
  );
  const others = places.filter((step) => !step.includes(index));
  expect(others).toHaveLength(1);
  expect(plan.join('\n')).not.toMatch(/by_start|SCAN session|Seq Scan/);
});

test('updates the risk in the list of an agent with every score, also for an agent that joins later', async () => {
  const server = await testServer();
  const call = (toolName: string, second: number, agentId: string) =>
    activityEvent({
      agentId,
      sourceTimestamp: new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString(),
      payload: { toolName, argumentsHash: `sha256:${second}`, responseStatus: 200 },
    });
  const tools = ['fetch_web_page', 'read_private_file', 'get_credentials', 'send_email', 'delete_user'];
  await server.record(...tools.map((toolName, second) => call(toolName, second, 'first')));
  const { score } = await server.ok('sessions.risk', { id: 'thread-1' });
  const listed = async (id: string, minRiskScore: number) =>
    (await server.ok('agents.sessions', { id, query: { minRiskScore } })).items.map(
      (item) => item.risk?.score,
    );
  expect(await listed('first', score)).toEqual([score]);
  expect(await listed('first', score + 0.01)).toEqual([]);
  await server.record(call('delete_account', 9, 'second'));
  const risen = (await server.ok('sessions.risk', { id: 'thread-1' })).score;
  for (const agent of ['first', 'second']) {
    expect(await listed(agent, risen)).toEqual([risen]);
    expect(await listed(agent, Math.min(100, risen + 0.01))).toEqual(risen === 100 ? [100] : []);
  }
});

test('ends a page of large sessions early, and continues after it', async () => {
  const otherAgents = Array.from({ length: 1000 }, (_, index) => `${index}-`.padEnd(200, 'x'));
  const agentId = 'agent-1';
  const sessions = sessionsOf(8).map((session) => ({ ...session, agentId, score: 50, otherAgents }));
  const { server } = await withScores(sessions);
  const filters = [{}, { agentId }, { minRiskScore: 1 }, { agentId, minRiskScore: 1 }];
  for (const query of filters.map((filter) => ({ limit: 200, ...filter }))) {
    const { items } = await server.ok('sessions.list', { query });
    expect(items, JSON.stringify(query)).toHaveLength(5);
    expect(await pages(server, query), JSON.stringify(query)).toEqual(sessions.map(({ id }) => id));
  }
});
