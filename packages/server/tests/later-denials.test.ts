import { expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const named = { actionId: 'call-1' };

/** What the session tells of decisions, oldest first. */
async function decisions(server: TestServer) {
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  return events.map(({ payload }) => [payload.decision, payload.policyId]);
}

test('the session tells once of a denial that ends the wait for a person', async () => {
  const server = await testServer();
  const hold = await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(named);
  const deny = await server.policy({ effect: 'deny' });
  const asked = await Promise.all(
    Array.from({ length: 4 }, (_, index) => server.check(named, index % 2 === 0 ? {} : { prefer: 'wait=5' })),
  );
  expect(asked.map(({ decision, decidedBy }) => [decision, decidedBy])).toEqual(
    asked.map(() => ['deny', deny.id]),
  );
  expect(await decisions(server)).toEqual([
    ['require_approval', hold.id],
    ['deny', deny.id],
  ]);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[1]?.payload).toMatchObject({ pendingActionId, toolName: 'refund', decidedBy: null });
});

test('the session tells of a denial after an approval, and of each policy that comes to deny', async () => {
  const server = await testServer();
  const hold = await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(named);
  const body = { decision: 'approve' };
  await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body });
  const deny = await server.policy({ effect: 'deny' });
  await server.check(named);
  await server.ok('policies.archive', { id: deny.id });
  expect((await server.check(named)).decision).toBe('allow');
  const other = await server.policy({ effect: 'deny' });
  for (let asked = 0; asked < 2; asked += 1) await server.check(named);
  expect(await decisions(server)).toEqual([
    ['require_approval', hold.id],
    ['approved', hold.id],
    ['deny', deny.id],
    ['deny', other.id],
  ]);
});

test('the session tells of the denial of an action that was counted and let through before', async () => {
  const server = await testServer();
  await server.policy({ effect: 'deny', rate: { max: 5, windowSeconds: 60, per: 'agent' } });
  expect((await server.check(named)).decision).toBe('allow');
  const deny = await server.policy({ effect: 'deny', priority: 1 });
  for (let asked = 0; asked < 2; asked += 1) expect((await server.check(named)).decision).toBe('deny');
  expect(await decisions(server)).toEqual([['deny', deny.id]]);
});

test('a named action outside a session is denied as before, whatever came earlier', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const outside = { ...named, sessionId: undefined };
  await server.check(outside);
  const deny = await server.policy({ effect: 'deny' });
  expect(await server.check(outside)).toMatchObject({ decision: 'deny', decidedBy: deny.id });
});

test('a webhook hears once of the policy that ends a wait', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  try {
    const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
    await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
    const hold = await server.policy({ effect: 'require_approval' });
    await server.check(named);
    const deny = await server.policy({ effect: 'deny' });
    for (let asked = 0; asked < 2; asked += 1) await server.check(named);
    await server.check({ actionId: 'call-2' });
    const told = (await receiver.received(4)).map(({ body }) => (body.data as { policyId: string }).policyId);
    expect(told.toSorted()).toEqual([hold.id, deny.id, hold.id, deny.id].toSorted());
  } finally {
    await receiver.close();
  }
});
