import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DecisionSignal } from '../src/guardian/decision-signal.ts';
import { afterNextRead } from './storage-seam.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

const approval = { timeoutSeconds: 900, onTimeout: 'deny', singleUse: true } as const;

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
  await server.policy({ effect: 'require_approval', approval });
});

afterEach(() => {
  vi.useRealTimers();
});

function approve(id: string | null | undefined) {
  return server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
}

/** Advances the clock of the service, which then stands still, without any timer. */
function moveClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

/** Checks an action that is held, and approves it. */
async function approved(actionId?: string) {
  const { pendingActionId } = await server.check(actionId === undefined ? {} : { actionId });
  await approve(pendingActionId);
  return pendingActionId;
}

async function approvedActions() {
  return (await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } })).items;
}

/** Resolves when a check has read its held action and waits for the decision. */
function nextWait(): Promise<void> {
  const { listen } = DecisionSignal.prototype;
  const spy = vi.spyOn(DecisionSignal.prototype, 'listen');
  atTestEnd(async () => spy.mockRestore());
  return new Promise((resolve) => {
    spy.mockImplementation(function (this: DecisionSignal, id) {
      const listening = listen.call(this, id);
      return {
        waitForChange(timeoutMs, disconnected) {
          resolve();
          return listening.waitForChange(timeoutMs, disconnected);
        },
        end: () => listening.end(),
      };
    });
  });
}

test('lets a check repeat for 60 seconds after a single-use approval, then holds it again', async () => {
  moveClock(0); // It stands still from here on.
  const first = await approved('call-1');
  expect(await approvedActions()).toMatchObject([{ id: first, singleUse: true, usedAt: null }]);
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({
    decision: 'allow',
    pendingActionId: first,
  });
  const [used] = await approvedActions();
  expect(used).toMatchObject({ usedAt: expect.any(String) });
  moveClock(59_000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  expect(await approvedActions()).toEqual([used]);

  moveClock(2000);
  const next = await server.check({ actionId: 'call-1' });
  expect(next).toMatchObject({ decision: 'require_approval', pendingActionId: expect.any(String) });
  expect(next.pendingActionId).not.toBe(first);
  // A repeat waits for the same decision, and the next approval is single-use again.
  expect((await server.check({ actionId: 'call-1' })).pendingActionId).toBe(next.pendingActionId);
  await approve(next.pendingActionId);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  moveClock(61_000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('require_approval');
});

test('lets a check repeat after an approval without singleUse', async () => {
  const [policy] = (await server.ok('policies.list')).items;
  await server.ok('policies.update', { id: policy?.id as string, body: { approval: { singleUse: false } } });
  await approved('call-1');
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  moveClock(61_000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  expect(await approvedActions()).toMatchObject([{ singleUse: false, usedAt: null }]);
});

test('does not use up a single-use approval by a dry run or a denied check', async () => {
  const id = await approved('call-1');
  expect((await server.check({ actionId: 'call-1' }, { prefer: 'dry-run' })).decision).toBe('allow');
  const deny = await server.policy({ effect: 'deny' });
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('deny');
  await server.ok('policies.archive', { id: deny.id });
  expect(await approvedActions()).toMatchObject([{ id, usedAt: null }]);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  moveClock(61_000);
  expect(await server.check({ actionId: 'call-1' }, { prefer: 'dry-run' })).toMatchObject({
    decision: 'require_approval',
    pendingActionId: null,
  });
});

test('lets an undecided action run once by onTimeout', async () => {
  const [policy] = (await server.ok('policies.list')).items;
  const body = { approval: { timeoutSeconds: 1, onTimeout: 'allow' as const } };
  await server.ok('policies.update', { id: policy?.id as string, body });
  const first = await server.check({ actionId: 'call-1' });
  moveClock(2000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  moveClock(61_000);
  const next = await server.check({ actionId: 'call-1' });
  expect(next.decision).toBe('require_approval');
  expect(next.pendingActionId).not.toBe(first.pendingActionId);
});

test('applies singleUse of a policy that another one precedes', async () => {
  const first = await server.policy({ effect: 'require_approval', priority: 5 });
  const { pendingActionId, decidedBy } = await server.check({ actionId: 'call-1' });
  expect(decidedBy).toBe(first.id);
  expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([
    { id: pendingActionId, singleUse: true },
  ]);
});

test('gives the approval to one of several waiting checks without an actionId', async () => {
  const listen = vi.spyOn(DecisionSignal.prototype, 'listen');
  atTestEnd(async () => listen.mockRestore());
  const held = await server.check();
  const waiting = [server.check({}, { prefer: 'wait=25' }), server.check({}, { prefer: 'wait=25' })];
  await vi.waitFor(() => expect(listen).toHaveBeenCalledTimes(2));
  await approve(held.pendingActionId);
  const responses = await Promise.all(waiting);
  expect(responses.map(({ decision }) => decision).sort()).toEqual(['allow', 'require_approval']);
  const again = responses.find(({ decision }) => decision === 'require_approval');
  expect(again?.pendingActionId).not.toBe(held.pendingActionId);
});

test('does not use an approval twice that was read as unused', async () => {
  const held = await server.check({ actionId: 'call-1' });
  const waits = nextWait();
  // This check shares the held action.
  const unnamed = server.check({}, { prefer: 'wait=25' });
  await waits;
  const decisions: string[] = [];
  // The check also reads its action when another server may have decided it.
  const afterApproval = async () => {
    if ((await approvedActions()).length === 0) return afterNextRead(afterApproval);
    decisions.push((await server.check({ actionId: 'call-1' })).decision);
  };
  afterNextRead(afterApproval);
  await approve(held.pendingActionId);
  decisions.push((await unnamed).decision);
  expect(decisions).toEqual(['allow', 'require_approval']);
});
