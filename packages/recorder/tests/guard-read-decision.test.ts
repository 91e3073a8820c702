import { expect, test } from 'vitest';
import type { GuardOptions, ReadDecision, Recorder } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const call = { toolName: 'transfer', arguments: { amount: 100 }, sessionId: 'session', callId: 'call-1' };

/** Starts a service that words its decisions in its own way; the last one repeats. */
async function startForeign(...bodies: unknown[]): Promise<Sink> {
  let checks = 0;
  return Sink.start((request) => {
    if (request.path !== '/v1/policies/check') return undefined;
    const body = bodies[Math.min(checks, bodies.length - 1)];
    checks += 1;
    return { status: 200, body };
  });
}

function guarded(sink: Sink, guard: GuardOptions = {}): { recorder: Recorder; errors: string[] } {
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'allow', ...guard },
    onError: ({ message }) => errors.push(message),
  });
  return { recorder, errors };
}

const readDecision: ReadDecision = ({ result, why, ticket, by }) => {
  if (result === 'ok') return { decision: 'allow' };
  if (result === 'wait') return { decision: 'require_approval', pendingActionId: ticket as number };
  if (result !== 'deny') return undefined;
  return { decision: 'deny', reason: why as string, deniedBy: by as 'person', policyId: 7 };
};

test.each([
  ['own words', { result: 'deny' }],
  ['another decision', { decision: 'maybe' }],
  ['no field', {}],
])('does not run a call whose decision is in %s, even if onUnavailable allows calls', async (_name, body) => {
  const sink = await startForeign(body);
  const { recorder, errors } = guarded(sink);
  let hasRun = false;
  const promise = recorder.toolCall(call, () => {
    hasRun = true;
  });
  await expect(promise).rejects.toMatchObject({ because: 'unavailable' });
  expect(hasRun).toBe(false);
  expect(errors).toEqual([
    'A response to a policy check has no decision "allow", "deny" or "require_approval": map the decisions of this service with guard.readDecision.',
  ]);
});

test('denies a call as readDecision maps the response', async () => {
  const sink = await startForeign({ result: 'deny', why: 'Too much', by: 'person' });
  const { recorder, errors } = guarded(sink, { readDecision });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'denied',
    decision: 'deny',
    deniedBy: 'person',
    policyId: '7',
    reason: 'Too much',
  });
  expect(errors).toEqual([]);
});

test('runs a call as readDecision maps the response, and ignores the fields of the profile', async () => {
  const sink = await startForeign({ result: 'ok', decision: 'deny' });
  const { recorder } = guarded(sink, { readDecision });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect(recorder.stats().guard).toEqual({ allowed: 1, denied: 0, unavailable: 0 });
});

test('holds a call until readDecision maps a response to another decision', async () => {
  const sink = await startForeign({ result: 'wait', ticket: 12 }, { result: 'ok' });
  const { recorder } = guarded(sink, { readDecision });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  const checks = sink.requests.filter(({ path }) => path === '/v1/policies/check');
  expect(checks).toHaveLength(2);
  expect(new Set(checks.map(({ body }) => body.actionId)).size).toBe(1);
});

test('names the pending action of a mapped hold that nobody decided', async () => {
  const sink = await startForeign({ result: 'wait', ticket: 12 });
  const { recorder } = guarded(sink, { readDecision, holdTimeoutMs: 50 });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'approval-timed-out',
    pendingActionId: '12',
  });
});

test('an expired hold is mapped to a timeout', async () => {
  const sink = await startForeign({ result: 'late' });
  const read: ReadDecision = () => ({ decision: 'deny', isTimedOut: true, deniedBy: 'person' });
  const { recorder } = guarded(sink, { readDecision: read });
  const error = await recorder.toolCall(call, () => 'ran').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ because: 'approval-timed-out' });
  expect(error).toHaveProperty('deniedBy', undefined);
});

test.each<[string, ReadDecision, string]>([
  ['returns nothing', () => undefined, 'returned no decision'],
  ['returns another word', () => ({ decision: 'no' }) as never, 'returned no decision'],
  ['returns a promise', (async () => ({ decision: 'allow' })) as never, 'returned no decision'],
  [
    'returns a rejected promise',
    (async () => {
      throw new Error('secret');
    }) as never,
    'returned no decision',
  ],
  [
    'throws',
    () => {
      throw new Error('secret');
    },
    'threw an error',
  ],
])('does not run a call if readDecision %s', async (_name, read, problem) => {
  const sink = await startForeign({ result: 'ok' });
  const { recorder, errors } = guarded(sink, { readDecision: read });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(errors).toEqual([expect.stringContaining(problem)]);
  expect(errors.join()).not.toContain('secret');
});

test('observe counts what readDecision maps', async () => {
  const sink = await startForeign({ result: 'deny' });
  const { recorder } = guarded(sink, { mode: 'observe', readDecision });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  await expect.poll(() => recorder.stats().guard).toEqual({ allowed: 0, denied: 1, unavailable: 0 });
});

test('an adapter uses the readDecision of its recorder', async () => {
  const sink = await startForeign({ result: 'deny' });
  const { recorder } = guarded(sink, { readDecision });
  const adapter = recorder.forAdapter({
    framework: 'some-framework',
    sdk: '@actlog/some/0.0.0',
    guard: { onUnavailable: 'allow' },
  });
  await expect(adapter.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
});
