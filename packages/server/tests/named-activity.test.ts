import type { NamedActivityList, NamedActivityReport } from '@actlog/protocol';
import { expect, test } from 'vitest';
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
  expect(report).toMatchObject({ learnedSessions: null, isVerified: null, keys: null });
  const unknown = await get<NamedActivityReport>(server, `tools/${encodeURIComponent('a/b\u202e')}/activity`);
  expect(unknown.recent).toMatchObject({ calls: 0, since: null, names: [] });
});

test('shows keys only to who may manage them, and lists names by their calls', async () => {
  const server = await testServer();
  await server.record(call('billing', 'refund', 500), call('mailer', 'send'), call('mailer', 'send'));
  const { apiKey } = await server.server.admin.keys.create('default', { name: 'r', scopes: ['read'] });
  const report = await get<NamedActivityReport>(server.as(apiKey), 'agents/billing/activity');
  expect(report.keys).toBeNull();
  const { items } = await get<NamedActivityList>(server, 'activity?kind=tool');
  expect(items).toEqual([
    { name: 'send', calls: 2, errors: 0, denials: 0 },
    { name: 'refund', calls: 1, errors: 1, denials: 0 },
  ]);
  const response = await fetch(`${server.server.url}/server/v1/activity?kind=tools`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  expect((await readError(response)).details[0]?.path).toBe('query.kind');
});
