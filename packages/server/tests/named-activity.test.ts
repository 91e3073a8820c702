import type { NamedActivityList, NamedActivityReport } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { maxActivityNames } from '../src/storage/stores/activity-change.ts';
import { mailboxTools } from './mailbox-tools.ts';
import { readError, type TestServer, testServer } from './test-server.ts';

async function get<Body>(server: TestServer, path: string, status = 200): Promise<Body> {
  const response = await fetch(`${server.server.url}/server/v1/${path}`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  expect(response.status).toBe(status);
  return (await response.json()) as Body;
}

function call(agentId: string, toolName: string, responseStatus = 200) {
  return {
    agentId,
    sessionId: `s-${agentId}`,
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
  };
}

test('reports what an agent did by day, what it usually calls, and the policies that apply', async () => {
  const server = await testServer();
  await server.record(
    call('billing', 'refund'),
    call('billing', 'refund', 500),
    call('billing', 'get_order', 403),
    call('mailer', 'refund'),
    { agentId: 'billing', category: 'plan', payload: {} },
  );
  await server.policy({ name: 'Default deny', priority: -1000, match: { agents: ['billing'] } });
  await server.policy({ name: 'Mail', match: { agents: ['mail*'] } });
  await server.policy({ name: 'All', match: { tools: ['pay'] }, mode: 'log_only' });
  const report = await get<NamedActivityReport>(server, 'agents/billing/activity');
  expect(report.days).toHaveLength(30);
  expect(report.days.at(-1)).toMatchObject({ calls: 3, errors: 1, denials: 1 });
  expect(report.recent).toMatchObject({
    calls: 3,
    nameCount: 2,
    names: [
      { name: 'refund', calls: 2, errors: 1, denials: 0 },
      { name: 'get_order', calls: 1, errors: 0, denials: 1 },
    ],
  });
  expect(report.recent.hours.reduce((sum, count) => sum + count)).toBe(3);
  expect(report.policies.map(({ name }) => name)).toEqual(['All', 'Default deny']);
  expect(report).toMatchObject({ learnedSessions: 0, isVerified: false });
  expect(report.keys).toMatchObject([{ agents: null }]);
});

test('reports the agents that call a tool, without keys', async () => {
  const server = await testServer();
  await server.record(call('billing', 'refund'), call('mailer', 'refund'), call('billing', 'refund'));
  await server.policy({ name: 'Refunds', match: { tools: ['ref*'] } });
  await server.policy({ name: 'Mail', match: { tools: ['send*'] } });
  const report = await get<NamedActivityReport>(server, 'tools/refund/activity');
  expect(report.recent.names.map(({ name, calls }) => [name, calls])).toEqual([
    ['billing', 2],
    ['mailer', 1],
  ]);
  expect(report.policies.map(({ name }) => name)).toEqual(['Refunds']);
  expect(report).toMatchObject({ learnedSessions: null, isVerified: null, keys: null, risk: null });
  const unknown = await get<NamedActivityReport>(server, `tools/${encodeURIComponent('a/b\u202e')}/activity`);
  expect(unknown.recent).toMatchObject({ calls: 0, since: null, names: [] });
});

test('shows keys only to who may manage them, and lists names by their calls', async () => {
  const server = await testServer();
  await server.record(call('billing', 'refund', 500), call('mailer', 'send'), call('mailer', 'send'));
  const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'r', scopes: ['read'] });
  const report = await get<NamedActivityReport>(server.as(apiKey), 'agents/billing/activity');
  expect(report.keys).toBeNull();
  const { items, others, risk } = await get<NamedActivityList>(server, 'activity?kind=tool');
  expect({ others, risk }).toEqual({ others: { calls: 0, errors: 0, denials: 0 }, risk: null });
  expect(items).toEqual([
    { name: 'send', calls: 2, errors: 0, denials: 0 },
    { name: 'refund', calls: 1, errors: 1, denials: 0 },
  ]);
  const response = await fetch(`${server.server.url}/server/v1/activity?kind=tools`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  expect((await readError(response)).details[0]?.path).toBe('query.kind');
});

test('reports the highest score of an agent by day, and of each agent in seven days', async () => {
  const server = await testServer();
  const dayMs = 86_400_000;
  const act = async (sessionId: string, agentId: string, daysAgo: number, tools: readonly string[]) => {
    const startMs = Date.now() - daysAgo * dayMs - 60_000;
    const calls = tools.map((toolName, index) => ({
      sessionId,
      agentId,
      sourceTimestamp: new Date(startMs + index * 1000).toISOString(),
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
    }));
    await server.record(...calls);
    return Math.floor((await server.ok('sessions.risk', { id: sessionId })).score);
  };
  const old = await act('old', 'mailer', 9, mailboxTools);
  await act('calm', 'mailer', 2, ['search']);
  const recent = await act('recent', 'mailer', 2, ['read_email', 'send_email']);
  await act('other', 'calm', 2, ['search']);
  expect(old).toBeGreaterThan(recent);
  const { risk } = await get<NamedActivityReport>(server, 'agents/mailer/activity');
  expect(risk).toHaveLength(30);
  const byDay = new Map(risk?.map(({ at, score }) => [at.slice(0, 10), score]));
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs - 60_000).toISOString().slice(0, 10);
  expect([byDay.get(day(9)), byDay.get(day(2)), byDay.get(day(5))]).toEqual([old, recent, null]);
  const list = await get<NamedActivityList>(server, 'activity?kind=agent');
  expect(list.risk).toEqual({ mailer: recent });
});

test('counts the calls of names beyond those of an hour as others', async () => {
  const server = await testServer();
  const names = Array.from({ length: maxActivityNames + 3 }, (_, index) => `agent-${index}`);
  await server.record(...names.map((agentId) => call(agentId, 'search', agentId.endsWith('0') ? 500 : 200)));
  const { items, others } = await get<NamedActivityList>(server, 'activity?kind=agent&limit=10');
  expect(items).toHaveLength(10);
  expect(others.calls).toBe(3);
});
