import { expect, test } from 'vitest';
import { activityEvent, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const agentId = 'billing-agent';
const named = { agentId, actionId: 'call-1' };

async function setStatus(server: TestServer, status: 'active' | 'revoked'): Promise<void> {
  await server.ok('agents.update', { id: agentId, body: { status } });
}

async function registered(server: TestServer): Promise<void> {
  await server.ok('agents.create', { body: { id: agentId, name: 'Billing' } });
}

/** Returns the decisions recorded in the session, oldest first. */
async function decisions(server: TestServer) {
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  return events.map(({ payload }) => [payload.decision, payload.policyId]);
}

test('denies actions of a revoked agent before all policies', async () => {
  const server = await testServer();
  await registered(server);
  const allow = await server.policy({ effect: 'allow', priority: 1000 });
  expect((await server.check(named)).decision).toBe('allow');
  await setStatus(server, 'revoked');
  const response = await server.check(named);
  expect(response).toMatchObject({ decision: 'deny', decidedBy: 'agent_revoked', pendingActionId: null });
  expect(response.matched.map(({ policyId }) => policyId)).toEqual(['agent_revoked', allow.id]);
  expect(response.matched[0]).toMatchObject({
    effect: 'deny',
    mode: 'enforce',
    why: 'the agent is revoked',
    message: 'This agent is revoked: it must not act until somebody reinstates it.',
  });
  expect((await server.check({ agentId }, { prefer: 'dry-run' })).decision).toBe('deny');
  await setStatus(server, 'active');
  expect((await server.check(named)).decision).toBe('allow');
  expect(await decisions(server)).toEqual([['deny', 'agent_revoked']]);
});

test("counts actions of a revoked agent as evidence against it, but not a person's decision", async () => {
  const server = await testServer();
  await registered(server);
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(named);
  await setStatus(server, 'revoked');
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
  expect(await server.ok('sessions.risk', { id: 'thread-1' })).toMatchObject({ score: 0, level: 'low' });
  const act = activityEvent();
  await server.ok('events.create', { body: act });
  const { level, factors } = await server.ok('sessions.risk', { id: 'thread-1' });
  expect(level).toBe('critical');
  const revoked = factors.find(({ ruleId }) => ruleId === 'rogue.revoked-agent');
  expect(revoked?.evidence).toEqual({ eventIds: [act.eventId], count: 1 });
});

test('denies held and approved actions once their agent is revoked', async () => {
  const server = await testServer();
  await registered(server);
  const hold = await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(named);
  await setStatus(server, 'revoked');
  expect(await server.check(named, { prefer: 'wait=5' })).toMatchObject({
    decision: 'deny',
    decidedBy: 'agent_revoked',
    pendingActionId,
  });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  expect((await server.check(named)).decision).toBe('deny');
  await setStatus(server, 'active');
  expect((await server.check(named)).decision).toBe('allow');
  expect((await decisions(server)).slice(0, 2)).toEqual([
    ['require_approval', hold.id],
    ['deny', 'agent_revoked'],
  ]);
});

test('announces the denial to webhooks for policies', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  try {
    const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
    await registered(server);
    await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
    await setStatus(server, 'revoked');
    await server.check(named);
    const [message] = await receiver.received(1);
    expect(message?.body.data).toMatchObject({
      agentId,
      decision: 'deny',
      policies: [{ policyId: 'agent_revoked', effect: 'deny' }],
    });
  } finally {
    await receiver.close();
  }
});
