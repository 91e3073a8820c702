import { Actlog } from '@actlog/client';
import { ActionDeniedError, Recorder } from '@actlog/recorder';
import { setupServer } from 'msw/node';
import { afterEach, expect, it, vi } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HandlersDispatcher } from '../src/node/index.ts';

const mock = actlogMock({
  policies: [
    {
      name: 'no deletes',
      effect: 'deny',
      match: { tools: ['delete_*'] },
      message: 'Nothing is deleted here.',
    },
    { name: 'ask for mail', effect: 'require_approval', match: { tools: ['send_mail'] } },
    { name: 'large sums', effect: 'deny', condition: 'action.toolName == "pay" && args.amount > 100' },
    {
      name: 'ten searches',
      effect: 'deny',
      match: { tools: ['search'] },
      rate: { max: 2, windowSeconds: 60, per: 'session' },
    },
  ],
});
const server = setupServer(...mock.handlers);
const dispatcher = new HandlersDispatcher(server);
const client = new Actlog({ ...mock.options, dispatcher });

afterEach(() => mock.reset());

function guardedRecorder(): Recorder {
  return new Recorder({
    client,
    agentId: 'bot',
    spool: false,
    guard: {
      mode: 'enforce',
      onUnavailable: 'deny',
      showArguments: (args) => args as Record<string, unknown>,
    },
  });
}

it('denies by name, by a condition on shown arguments, and by rate', async () => {
  await using recorder = guardedRecorder();
  const call = (toolName: string, args: object = {}) =>
    recorder.toolCall({ toolName, arguments: args, sessionId: 's' }, async () => 'done');
  await expect(call('delete_user')).rejects.toMatchObject({ reason: 'Nothing is deleted here.' });
  await expect(call('pay', { amount: 101 })).rejects.toBeInstanceOf(ActionDeniedError);
  await expect(call('pay', { amount: 100 })).resolves.toBe('done');
  await expect(call('search', { text: 'a' })).resolves.toBe('done');
  await expect(call('search', { text: 'b' })).resolves.toBe('done');
  await expect(call('search', { text: 'c' })).rejects.toBeInstanceOf(ActionDeniedError);
});

it.each(['approve', 'deny'] as const)('holds a call until the decision %s', async (decision) => {
  await using recorder = guardedRecorder();
  const ran = vi.fn(async () => 'sent');
  const held = recorder.toolCall({ toolName: 'send_mail', arguments: {}, sessionId: 's' }, ran);
  const outcome = held.then(
    () => 'ran',
    (error) => (ActionDeniedError.isInstance(error) ? error.because : error),
  );
  const action = await vi.waitUntil(() => mock.state.pendingActions[0]);
  expect(action).toMatchObject({ status: 'pending', agentId: 'bot', action: { toolName: 'send_mail' } });
  expect(ran).not.toHaveBeenCalled();
  expect(mock.decide(action.id, decision, 'seen')).toMatchObject({ decision: { decision, comment: 'seen' } });
  expect(await outcome).toBe(decision === 'approve' ? 'ran' : 'denied');
  expect(ran).toHaveBeenCalledTimes(decision === 'approve' ? 1 : 0);
  const decisions = mock.events({ category: 'guardian_decision' }).map(({ payload }) => payload.decision);
  expect(decisions).toEqual(['require_approval', decision === 'approve' ? 'approved' : 'denied']);
});

it('responds to a waiting check on the decision or when the time is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    const check = { agentId: 'bot', actionId: 'one', action: { toolName: 'send_mail', argumentsHash: 'h' } };
    const ask = () => client.policies.check(check, { headers: { prefer: 'wait=20' }, timeoutMs: 60_000 });
    const first = Promise.resolve(ask());
    await vi.advanceTimersByTimeAsync(20_000);
    const { decision, pendingActionId } = await first;
    expect(decision).toBe('require_approval');
    const second = Promise.resolve(ask());
    await vi.advanceTimersByTimeAsync(1);
    mock.decide(String(pendingActionId), 'approve');
    expect(await second).toMatchObject({ decision: 'allow', decidedBy: 'mock' });
    await vi.advanceTimersByTimeAsync(900_000);
    expect(mock.state.pendingActions).toMatchObject([{ status: 'approved' }]);
  } finally {
    vi.useRealTimers();
  }
});

it('leaves nothing of a waiting check in a mock that is reset', async () => {
  const check = { agentId: 'bot', actionId: 'one', action: { toolName: 'send_mail', argumentsHash: 'h' } };
  const waiting = Promise.resolve(client.policies.check(check, { waitSeconds: 20 }));
  await vi.waitUntil(() => mock.state.pendingActions.length === 1);
  mock.reset();
  expect(await waiting).toMatchObject({ decision: 'require_approval', pendingActionId: null });
  expect([mock.state.pendingActions, mock.events(), mock.requests()]).toEqual([[], [], []]);
});

it('follows fake timers that do not move the clock', async () => {
  mock.addPolicy({
    name: 'ask soon',
    effect: 'require_approval',
    match: { tools: ['call'] },
    approval: { timeoutSeconds: 10, onTimeout: 'allow' },
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const started = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  try {
    const ask = (toolName: string) =>
      client.policies.check(
        { agentId: 'bot', actionId: toolName, action: { toolName, argumentsHash: 'h' } },
        { waitSeconds: 20 },
      );
    const mail = Promise.resolve(ask('send_mail'));
    const call = Promise.resolve(ask('call'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await call).toMatchObject({ decision: 'allow' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await mail).toMatchObject({ decision: 'require_approval' });
    const waits = started.mock.results.filter((_, index) => started.mock.calls[index]?.[1] === 20_000);
    expect(waits).toHaveLength(1);
    expect(cleared).toHaveBeenCalledWith(waits[0]?.value);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

it('denies actions of a revoked agent until it is reactivated', async () => {
  const ask = () =>
    client.policies.check({ agentId: 'payer', action: { toolName: 'call', argumentsHash: 'h' } });
  await client.agents.create({ id: 'payer', name: 'Payer' });
  await client.agents.update('payer', { status: 'revoked' });
  expect(await ask()).toMatchObject({ decision: 'deny', decidedBy: 'agent_revoked' });
  await client.agents.update('payer', { status: 'active' });
  expect((await ask()).decision).toBe('allow');
});

it('expires an action that nobody decides in time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const action = { toolName: 'send_mail', argumentsHash: 'h' };
    const { pendingActionId } = await client.policies.check({ agentId: 'bot', sessionId: 's', action });
    vi.setSystemTime(Date.now() + 900_000);
    expect(mock.state.pendingActions).toMatchObject([{ id: pendingActionId, status: 'expired' }]);
    expect(() => mock.decide(String(pendingActionId), 'approve')).toThrow('expired at');
  } finally {
    vi.useRealTimers();
  }
});
