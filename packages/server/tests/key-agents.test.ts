import { expect, test } from 'vitest';
import { sendTraces, toolSpanJson, traceRequest } from './otlp/trace-request.ts';
import { activityEvent, checkBody, type TestServer, testServer } from './test-server.ts';

interface KeyOptions {
  readonly agents?: readonly string[];
  readonly shared?: boolean;
}

/** Returns the server with a new key for agents. */
async function keyOf(server: TestServer, options: KeyOptions = {}): Promise<TestServer> {
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
    ...options,
  });
  return server.as(apiKey);
}

async function revoke(server: TestServer, id: string): Promise<void> {
  await server.send('agents.create', { body: { id, name: id } });
  await server.ok('agents.update', { id, body: { status: 'revoked' } });
}

/** Returns the decision of a check and who decided. */
async function decided(key: TestServer, agentId: string): Promise<readonly [string, string | null]> {
  const { decision, decidedBy } = await key.check({ agentId });
  return [decision, decidedBy];
}

const allowed = ['allow', null];
const stopped = ['deny', 'agent_revoked'];

test('records and checks only as the agents that a key is bound to', async () => {
  const server = await testServer();
  const key = await keyOf(server, { agents: ['billing*', 'support'] });
  for (const agentId of ['billing', 'billing2', 'support']) {
    await key.record({ agentId });
    expect(await decided(key, agentId)).toEqual(allowed);
  }
  for (const agentId of ['support2', 'Billing', 'x-billing', ' billing']) {
    const refusals = [
      await key.refused('events.create', { body: activityEvent({ agentId }) }),
      await key.refused('policies.check', { body: checkBody({ agentId }) }),
      await key.refused('policies.check', { body: checkBody({ agentId }), headers: { prefer: 'dry-run' } }),
    ];
    for (const { status, code, message } of refusals) {
      expect({ status, code }).toEqual({ status: 403, code: 'PERMISSION_DENIED' });
      expect(message).toContain(`"billing*", "support" only, not as ${JSON.stringify(agentId)}`);
    }
  }
  const { items } = await server.ok('agents.list');
  expect(items.map(({ id }) => id).sort()).toEqual(['billing', 'billing2', 'support']);
});

test('refuses spans of other agents, and records none of the request', async () => {
  const server = await testServer();
  const key = await keyOf(server, { agents: ['billing'] });
  const span = (agent: string) =>
    toolSpanJson('refund', { 'gen_ai.agent.id': agent, 'gen_ai.agent.name': agent });
  const both = await sendTraces(key, traceRequest([span('billing'), span('support')]));
  expect(both.status).toBe(403);
  expect(await both.text()).toContain('not as \\"support\\"');
  expect((await server.ok('sessions.list')).items).toEqual([]);
  expect((await sendTraces(key, traceRequest([span('billing')]))).status).toBe(200);
});

test("stops the other names of a revoked agent's key, and no other key", async () => {
  const server = await testServer();
  const [rogue, other] = [await keyOf(server), await keyOf(server)];
  expect(await decided(rogue, 'billing')).toEqual(allowed);
  await revoke(server, 'billing');
  expect(await decided(rogue, 'billing2')).toEqual(stopped);
  expect((await rogue.check({ agentId: 'billing3' })).matched[0]).toMatchObject({
    why: 'the API key has acted as the agent "billing", which is revoked',
  });
  expect((await rogue.check({ agentId: 'billing4' }, { prefer: 'dry-run' })).decision).toBe('deny');
  expect(await decided(other, 'support')).toEqual(allowed);
  await server.check({ agentId: 'billing' });
  expect((await server.check({ agentId: 'support' }, { prefer: 'dry-run' })).decision).toBe('allow');
  expect(await decided(server, 'support')).toEqual(stopped);
  await server.ok('agents.update', { id: 'billing', body: { status: 'active' } });
  expect(await decided(rogue, 'billing2')).toEqual(allowed);
});

test('stops a key that has recorded events or spans as a revoked agent, or does so only afterwards', async () => {
  const server = await testServer();
  const [events, spans, later] = [await keyOf(server), await keyOf(server), await keyOf(server)];
  await events.record({ agentId: 'billing' });
  await sendTraces(spans, traceRequest([toolSpanJson('refund', { 'gen_ai.agent.id': 'billing' })]));
  await revoke(server, 'billing');
  expect(await decided(events, 'x')).toEqual(stopped);
  expect(await decided(spans, 'x')).toEqual(stopped);
  expect(await decided(later, 'x')).toEqual(allowed);
  expect(await decided(later, 'billing')).toEqual(stopped);
  expect(await decided(later, 'x')).toEqual(stopped);
});

test('stops the key that replaces one', async () => {
  const server = await testServer();
  const { apiKey, key } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
    agents: ['billing*'],
  });
  await server.as(apiKey).check({ agentId: 'billing' });
  await revoke(server, 'billing');
  const rotated = await server.server.admin.keys.rotate(server.tenant, key.id);
  expect(rotated.key).toMatchObject({ agents: ['billing*'], shared: false });
  expect(await decided(server.as(rotated.apiKey), 'billing2')).toEqual(stopped);
});

test('does not stop the other agents of a shared key', async () => {
  const server = await testServer();
  const gateway = await keyOf(server, { shared: true });
  await gateway.check({ agentId: 'billing' });
  await revoke(server, 'billing');
  expect(await decided(gateway, 'support')).toEqual(allowed);
  expect(await decided(gateway, 'billing')).toEqual(stopped);
});

test('does not forget an agent of a key that has acted as more than a thousand', async () => {
  const server = await testServer();
  const key = await keyOf(server);
  await key.check({ agentId: 'billing' });
  const spans = Array.from({ length: 1000 }, (_, index) =>
    toolSpanJson('refund', { 'gen_ai.agent.id': `run-${index}` }),
  );
  expect((await sendTraces(key, traceRequest(spans))).status).toBe(200);
  await key.check({ agentId: 'rogue' });
  expect(await decided(key, 'support')).toEqual(allowed);
  await revoke(server, 'rogue');
  expect(await decided(key, 'support')).toEqual(stopped);
});

test.each([
  [{ agents: [] }, 'must name an agent'],
  [{ agents: ['a\nb'] }, 'control characters'],
  [{ agents: [''] }, 'must not be empty'],
  [{ agents: 'billing' }, 'array'],
  [{ shared: 'yes' }, 'must be true or false'],
])('refuses a key with %j', async (options, problem) => {
  const { admin } = (await testServer()).server;
  await expect(admin.keys.create('default', { name: 'k', ...(options as object) })).rejects.toThrow(problem);
});
