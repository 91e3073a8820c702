import type { PolicyCheck } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { hashArguments } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

/** Starts a service whose decisions come from a function, which may change the arguments meanwhile. */
async function startService(decide: (asked: number) => string): Promise<Sink> {
  let asked = 0;
  return Sink.start(({ path }) => {
    if (path !== '/v1/policies/check') return undefined;
    asked += 1;
    return { status: 200, body: { decision: decide(asked), pendingActionId: 'pac_1' } };
  });
}

function questions(sink: Sink): PolicyCheck[] {
  const asked = sink.requests.filter(({ path }) => path === '/v1/policies/check');
  return asked.map(({ body }) => body as unknown as PolicyCheck);
}

function recordedHashes(sink: Sink): unknown[] {
  return sink.stored.map(({ payload }) => payload.argumentsHash);
}

function changing(args: { amount: number }, onUnavailable: 'allow' | 'deny' = 'deny') {
  return {
    call: { toolName: 'refund', arguments: args },
    guard: {
      mode: 'enforce' as const,
      onUnavailable,
      showArguments: (shown: unknown) => shown as Record<string, unknown>,
    },
  };
}

test('checks arguments again that change while a person decides', async () => {
  const args = { amount: 1 };
  const approved = await hashArguments(args);
  const sink = await startService((asked) => {
    if (asked === 2) args.amount = 1_000;
    return asked === 1 ? 'require_approval' : 'allow';
  });
  const { call, guard } = changing(args);
  const recorder = createRecorder(sink.url, { guard });
  expect(await recorder.toolCall(call, () => args.amount)).toBe(1_000);
  await recorder.flush();
  const [held, again, anew] = questions(sink) as [PolicyCheck, PolicyCheck, PolicyCheck];
  expect(again.actionId).toBe(held.actionId);
  expect(again.action.argumentsHash).toBe(approved);
  expect(anew.actionId).not.toBe(held.actionId);
  expect(anew.action).toEqual({
    toolName: 'refund',
    argumentsHash: await hashArguments({ amount: 1_000 }),
    arguments: { amount: 1_000 },
  });
  expect(recordedHashes(sink)).toEqual([anew.action.argumentsHash]);
  expect(recorder.stats().guard).toEqual({ allowed: 1, denied: 0, unavailable: 0 });
});

test('does not run a call whose arguments changed to denied ones', async () => {
  const args = { amount: 1 };
  const sink = await startService((asked) => {
    args.amount = 1_000;
    return asked === 1 ? 'allow' : 'deny';
  });
  const { call, guard } = changing(args, 'allow');
  const recorder = createRecorder(sink.url, { guard });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  await recorder.flush();
  expect(recordedHashes(sink)).toEqual([await hashArguments({ amount: 1_000 })]);
});

test('does not run, and reports, a call whose arguments change during every check', async () => {
  const args = { amount: 0 };
  const sink = await startService(() => {
    args.amount += 1;
    return 'allow';
  });
  const { call, guard } = changing(args, 'allow');
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, { guard, onError: (error) => errors.push(error) });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(questions(sink)).toHaveLength(3);
  expect(errors.map(({ message }) => message)).toEqual([
    'The arguments of a call changed during every check; it was not run.',
  ]);
});

test('records the arguments of the run if they changed during an inner check', async () => {
  const args = { amount: 1 };
  const sink = await startService(() => {
    args.amount = 1_000;
    return 'allow';
  });
  const { call, guard } = changing(args);
  const recorder = createRecorder(sink.url);
  const inner = recorder.forAdapter({ framework: 'mcp', sdk: '@actlog/mcp/1.0.0', guard });
  const outer = recorder.forAdapter({ framework: 'langchain', sdk: '@actlog/langchain/1.0.0' });
  expect(await outer.toolCall(call, () => inner.toolCall(call, () => args.amount))).toBe(1_000);
  await recorder.flush();
  expect(recordedHashes(sink)).toEqual([await hashArguments({ amount: 1_000 })]);
});
