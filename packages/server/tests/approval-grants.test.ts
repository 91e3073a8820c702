import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

let server: TestServer;
let policyId: string;
beforeEach(async () => {
  server = await testServer();
  policyId = (await server.policy({ effect: 'require_approval' })).id;
});

afterEach(() => {
  vi.useRealTimers();
});

/** Advances the clock of the service, without any timer. */
function moveClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

function refund(argumentsHash: string, fields: object = {}) {
  return server.check({ action: { toolName: 'refund', argumentsHash }, ...fields });
}

/** Holds an action, and approves it with a grant. Returns the id of the grant. */
async function granted(grant: object, fields: object = {}): Promise<string> {
  const { pendingActionId } = await refund('sha256:aa', { actionId: `held-${Math.random()}`, ...fields });
  const id = pendingActionId as string;
  const action = await server.ok('guardian.pendingActions.decide', {
    id,
    body: { decision: 'approve', grant },
  });
  expect(action.grantId).toMatch(/^grt_/);
  return action.grantId as string;
}

test('allows the same action again, and holds another one', async () => {
  const grantId = await granted({ for: 'action' });
  expect(await refund('sha256:aa')).toMatchObject({
    decision: 'allow',
    decidedBy: expect.stringMatching(/^key_/),
    grantId,
    pendingActionId: null,
  });
  expect((await refund('sha256:bb')).decision).toBe('require_approval');
  const shown = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { amount: 9 } };
  expect((await server.check({ action: shown })).decision).toBe('require_approval');
});

test('allows other calls of the tool for the same agent in the same session', async () => {
  await granted({ for: 'tool' });
  expect((await refund('sha256:bb')).decision).toBe('allow');
  expect((await refund('sha256:bb', { sessionId: 'thread-2' })).decision).toBe('require_approval');
  expect((await refund('sha256:bb', { agentId: 'other' })).decision).toBe('require_approval');
  expect((await refund('sha256:bb', { principal: 'ada' })).decision).toBe('require_approval');
  const action = { toolName: 'transfer', argumentsHash: 'sha256:bb' };
  expect((await server.check({ action })).decision).toBe('require_approval');
});

test('records each allowed action in the session and in the decisions', async () => {
  const grantId = await granted({ for: 'tool' });
  await refund('sha256:bb', { actionId: 'call-1' });
  // A repeat is the same action.
  await refund('sha256:bb', { actionId: 'call-1' });
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  const used = events.slice(2).map(({ payload }) => payload);
  expect(used).toEqual([
    {
      toolName: 'refund',
      argumentsHash: 'sha256:bb',
      decision: 'approved',
      policyId,
      policyName: 'test',
      pendingActionId: null,
      decidedBy: expect.stringMatching(/^key_/),
      grantId,
    },
  ]);
  expect(events[1]?.payload).toMatchObject({ decision: 'approved', grantId });
  const response = await fetch(`${server.server.url}/server/v1/decisions`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { items } = (await response.json()) as { items: object[] };
  expect(items.slice(0, 2)).toMatchObject([
    { decision: 'allow', grantId },
    { decision: 'allow', grantId },
  ]);
});

test('counts the actions that a grant lets run, each once', async () => {
  await granted({ for: 'tool', maxUses: 2 });
  const decisions: string[] = [];
  for (const actionId of ['a', 'a', 'b', 'c', 'b']) {
    decisions.push((await refund('sha256:bb', { actionId })).decision);
  }
  expect(decisions).toEqual(['allow', 'allow', 'allow', 'require_approval', 'allow']);
});

test('lets exactly as many of racing actions run', async () => {
  await granted({ for: 'tool', maxUses: 3 });
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => refund('sha256:bb', { actionId: `race-${index}` })),
  );
  expect(responses.filter(({ decision }) => decision === 'allow')).toHaveLength(3);
});

test('ends after its time, one hour by default', async () => {
  await granted({ for: 'tool' });
  moveClock(3_599_000);
  expect((await refund('sha256:bb')).decision).toBe('allow');
  moveClock(2000);
  expect((await refund('sha256:bb')).decision).toBe('require_approval');
  for (const durationSeconds of [0, 86_401]) {
    const body = { decision: 'approve', grant: { for: 'tool', durationSeconds } };
    const error = await server.refused('guardian.pendingActions.decide', { id: 'pac_1', body });
    expect(error).toMatchObject({ status: 400, details: [{ path: 'grant.durationSeconds' }] });
  }
});

test('never outlives a denial or a change of the policy', async () => {
  await granted({ for: 'tool' });
  const deny = await server.policy({ effect: 'deny' });
  expect((await refund('sha256:bb')).decision).toBe('deny');
  await server.ok('policies.archive', { id: deny.id });
  expect((await refund('sha256:bb')).decision).toBe('allow');
  await server.ok('policies.update', { id: policyId, body: { description: 'changed' } });
  expect((await refund('sha256:bb')).decision).toBe('require_approval');
});

test('does not cover a policy that did not hold the approved action', async () => {
  await granted({ for: 'tool' });
  await server.policy({ effect: 'require_approval', condition: 'args.amount > 10' });
  const shown = (amount: number) => ({
    action: { toolName: 'refund', argumentsHash: 'sha256:bb', arguments: { amount } },
  });
  expect((await server.check(shown(5))).decision).toBe('allow');
  expect((await server.check(shown(50))).decision).toBe('require_approval');
});

test('shows in a dry run that a grant allows the action, without counting it', async () => {
  const grantId = await granted({ for: 'tool', maxUses: 1 });
  const body = { action: { toolName: 'refund', argumentsHash: 'sha256:bb' } };
  expect(await server.check(body, { prefer: 'dry-run' })).toMatchObject({ decision: 'allow', grantId });
  expect((await server.check(body)).decision).toBe('allow');
  expect((await server.check(body, { prefer: 'dry-run' })).decision).toBe('require_approval');
});

test('limits the valid grants of a session', async () => {
  for (let count = 0; count < 20; count += 1) await granted({ for: 'action' }, { action: action(count) });
  const { pendingActionId: id } = await server.check({ action: action(20) });
  const body = { decision: 'approve', grant: { for: 'action' } };
  const error = await server.refused('guardian.pendingActions.decide', { id: id as string, body });
  expect(error).toMatchObject({ status: 429, details: [{ path: 'grant', code: 'too_many_grants' }] });
  const alone = await server.ok('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'approve' },
  });
  expect(alone).toMatchObject({ status: 'approved', grantId: null });
});

function action(count: number) {
  return { toolName: 'refund', argumentsHash: `sha256:${count}` };
}
