import { expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const named = { actionId: 'call-1' };

/** Returns the decisions recorded in the session, oldest first. */
async function decisions(server: TestServer) {
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  return events.map(({ payload }) => [payload.decision, payload.policyId]);
}

test('records a denial that ends a hold once', async () => {
  const server = await testServer();
  const hold = await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check(named);
  const deny = await server.policy({ effect: 'deny' });
  const checked = await Promise.all(
    Array.from({ length: 4 }, (_, index) => server.check(named, index % 2 === 0 ? {} : { prefer: 'wait=5' })),
  );
  expect(checked.map(({ decision, decidedBy }) => [decision, decidedBy])).toEqual(
    checked.map(() => ['deny', deny.id]),
  );
  expect(await decisions(server)).toEqual([
    ['require_approval', hold.id],
    ['deny', deny.id],
  ]);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[1]?.payload).toMatchObject({ pendingActionId, toolName: 'refund', decidedBy: null });
});

test('records a denial after an approval, once for each denying policy', async () => {
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
  for (let checked = 0; checked < 2; checked += 1) await server.check(named);
  expect(await decisions(server)).toEqual([
    ['require_approval', hold.id],
    ['approved', hold.id],
    ['deny', deny.id],
    ['deny', other.id],
  ]);
});

test('records the denial of an action that was counted and allowed before', async () => {
  const server = await testServer();
  await server.policy({ effect: 'deny', rate: { max: 5, windowSeconds: 60, per: 'agent' } });
  expect((await server.check(named)).decision).toBe('allow');
  const deny = await server.policy({ effect: 'deny', priority: 1 });
  for (let checked = 0; checked < 2; checked += 1) expect((await server.check(named)).decision).toBe('deny');
  expect(await decisions(server)).toEqual([['deny', deny.id]]);
});

test('denies a named action outside a session whatever came before', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const outside = { ...named, sessionId: undefined };
  await server.check(outside);
  const deny = await server.policy({ effect: 'deny' });
  expect(await server.check(outside)).toMatchObject({ decision: 'deny', decidedBy: deny.id });
});

test('announces a policy that ends a hold to webhooks once', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  try {
    const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
    await server.ok('notificationChannels.create', { body: { url, events: ['policy.matched'] } });
    const hold = await server.policy({ effect: 'require_approval' });
    await server.check(named);
    const deny = await server.policy({ effect: 'deny' });
    for (let checked = 0; checked < 2; checked += 1) await server.check(named);
    await server.check({ actionId: 'call-2' });
    const recorded = (await receiver.received(3)).map(({ body: { data } }) =>
      (data.policies as { policyId: string }[]).map(({ policyId }) => policyId).join(),
    );
    expect(recorded.toSorted()).toEqual([hold.id, deny.id, `${deny.id},${hold.id}`].toSorted());
  } finally {
    await receiver.close();
  }
});
