import type { PolicyDecisionPage } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };

async function decisions(server: TestServer): Promise<PolicyDecisionPage['items']> {
  const response = await fetch(new URL('/server/v1/decisions', server.server.url), {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  return ((await response.json()) as PolicyDecisionPage).items;
}

test('applies the policies of every agent above to an inner agent', async () => {
  const server = await testServer();
  const check = async (agentId: string, parentAgentIds?: string[]) =>
    (await server.check({ agentId, action, ...(parentAgentIds && { parentAgentIds }) })).decision;
  await server.policy({ match: { agents: ['root'], tools: ['refund'] } });
  await server.policy({ effect: 'require_approval', condition: 'agent.id == "middle"' });
  expect(await check('inner')).toBe('allow');
  expect(await check('inner', ['middle'])).toBe('require_approval');
  expect(await check('inner', ['middle', 'root'])).toBe('deny');
  expect(await check('root', ['inner'])).toBe('deny');
  const { matched } = await server.check({ agentId: 'inner', parentAgentIds: ['root'], action });
  expect(matched[0]?.why).toContain('the agent runs inside "root"');
});

test('never permits an inner agent more than the agents above it', async () => {
  const server = await testServer();
  const allow = { name: 'allow', effect: 'allow', match: { agents: ['inner'] } } as const;
  await server.policy(allow);
  await server.policy({ effect: 'require_approval', match: { agents: ['root'] } });
  expect(await server.check({ agentId: 'inner', action })).toMatchObject({ matched: [{ effect: 'allow' }] });
  const inside = await server.check({ agentId: 'inner', parentAgentIds: ['root'], action });
  expect(inside).toMatchObject({ decision: 'require_approval', matched: [{ effect: 'require_approval' }] });
});

test('stops an inner agent when an agent above it is revoked, with any key', async () => {
  const server = await testServer();
  const { admin } = server.server;
  const shared = await admin.keys.create(server.tenant, { name: 'shared', scopes: ['ingest'], shared: true });
  for (const id of ['root', 'other']) await server.ok('agents.create', { body: { id, name: id } });
  await server.ok('agents.update', { id: 'root', body: { status: 'revoked' } });
  const agents = server.as(shared.apiKey);
  expect(await agents.check({ agentId: 'inner', parentAgentIds: ['middle', 'root'], action })).toMatchObject({
    decision: 'deny',
    decidedBy: 'agent_revoked',
    matched: [{ policyName: 'Revoked agents', why: 'the agent runs inside "root", which is revoked' }],
  });
  expect(await agents.check({ agentId: 'inner', parentAgentIds: ['other'], action })).toMatchObject({
    decision: 'allow',
  });
});

test('stops the key of an inner agent that names its agents no longer', async () => {
  const server = await testServer();
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
  });
  const agent = server.as(apiKey);
  await agent.check({ agentId: 'inner', parentAgentIds: ['root'], action });
  await server.ok('agents.create', { body: { id: 'root', name: 'root' } });
  await server.ok('agents.update', { id: 'root', body: { status: 'revoked' } });
  expect(await agent.check({ agentId: 'renamed', action })).toMatchObject({ decidedBy: 'agent_revoked' });
});

test('counts the calls of inner agents for the rates of the agents above', async () => {
  const server = await testServer();
  await server.policy({ match: { agents: ['root'] }, rate: { max: 2, windowSeconds: 3600, per: 'agent' } });
  const check = async (agentId: string, ...parentAgentIds: string[]) =>
    (await server.check({ agentId, parentAgentIds, action })).decision;
  expect(await check('one', 'root')).toBe('allow');
  expect(await check('two', 'one', 'root')).toBe('allow');
  expect(await check('three', 'root')).toBe('deny');
  expect(await check('root')).toBe('deny');
  expect(await check('three')).toBe('allow');
});

test('shows the subagent to conditions, approvers and readers, and binds the approval to it', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval', condition: 'subagent == "code-reviewer"' });
  await server.policy({ condition: 'parentAgentId == "root" && subagent == ""' });
  const inside = { agentId: 'billing', actionId: 'a-1', action, parentAgentIds: ['root'] };
  const held = await server.check({ ...inside, subagent: 'code-reviewer' });
  expect(held.decision).toBe('require_approval');
  const facts = { agentId: 'billing', subagent: 'code-reviewer', parentAgentIds: ['root'] };
  expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([facts]);
  expect(await decisions(server)).toMatchObject([facts]);
  const other = await server.refused('policies.check', { body: { ...inside, subagent: 'other' } });
  expect(other.code).toBe('ACTION_MISMATCH');
  expect((await server.check({ ...inside, actionId: 'a-2' })).decision).toBe('deny');
  expect((await server.check({ agentId: 'billing', action })).decision).toBe('allow');
  expect(await decisions(server)).toMatchObject([
    { subagent: null, parentAgentIds: [] },
    { subagent: null, parentAgentIds: ['root'] },
    facts,
  ]);
});

test('stores an event about the call of a subagent without a warning', async () => {
  const server = await testServer();
  const [eventId] = await server.record({});
  const payload = { eventId, toolName: 'refund', subagent: 'code-reviewer', parentAgentIds: ['root'] };
  const event = { category: 'subagent_call', payload };
  await server.record(event);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[1]).toMatchObject(event);
});

test('rejects agents above that no agent can be, and too many of them', async () => {
  const server = await testServer();
  const many = Array.from({ length: 9 }, (_, number) => `a-${number}`);
  for (const parentAgentIds of [['..'], [''], many]) {
    const body = { agentId: 'inner', action, parentAgentIds };
    const refused = await server.refused('policies.check', { body });
    expect(refused.details[0]?.path).toMatch(/^parentAgentIds/);
  }
});
