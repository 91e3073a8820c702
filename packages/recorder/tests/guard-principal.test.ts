import { expect, test } from 'vitest';
import type { GuardOptions, Recorder } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const call = { toolName: 'transfer', arguments: { pin: 'secret' }, sessionId: 'session' };

/** Starts a service that allows every check. */
function startService(): Promise<Sink> {
  return Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision: 'allow', matched: [] } } : undefined,
  );
}

function guarded(sink: Sink, principal: GuardOptions['principal'], errors: Error[] = []): Recorder {
  return createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'deny', principal },
    onError: (error) => errors.push(error),
  });
}

function principals(sink: Sink): unknown[] {
  return sink.requests.flatMap(({ path, body }) => (path === '/v1/policies/check' ? [body.principal] : []));
}

test('sends the principal with each check, and none unless it is set', async () => {
  const sink = await startService();
  await guarded(sink, 'ada@example.com').toolCall(call, () => 'ran');
  await guarded(sink, undefined).toolCall(call, () => 'ran');
  expect(principals(sink)).toEqual(['ada@example.com', undefined]);
  expect(sink.requests.map(({ body }) => 'principal' in body)).toContain(false);
});

test('sends the principal of the session that a function names', async () => {
  const sink = await startService();
  const users = new Map([['s-1', 'ada']]);
  const recorder = guarded(sink, ({ sessionId }) => users.get(sessionId));
  await recorder.toolCall({ ...call, sessionId: 's-1' }, () => 'ran');
  await recorder.toolCall({ ...call, sessionId: 's-2' }, () => 'ran');
  expect(principals(sink)).toEqual(['ada', undefined]);
});

test.each([
  ['throws', () => JSON.parse(`{"pin": secret}`)],
  ['returns a promise', async () => 'ada'],
  ['returns an empty text', () => ''],
  ['returns several lines', () => 'ada\ngrace'],
])('does not run a call as if nobody had requested it if the function %s', async (_, principal) => {
  const sink = await startService();
  const errors: Error[] = [];
  const recorder = guarded(sink, principal as () => string, errors);
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(principals(sink)).toEqual([]);
  expect(errors[0]?.message).toMatch(/^guard\.principal .*; the call was not checked\.$/);
  expect(errors[0]?.message).not.toContain('secret');
});

test.each([
  ['', RangeError],
  ['a\nb', RangeError],
  ['a'.repeat(201), RangeError],
  [7, TypeError],
])('refuses the option %j', (principal, type) => {
  const guard = { mode: 'enforce', onUnavailable: 'deny', principal } as unknown as GuardOptions;
  expect(() => createRecorder('http://127.0.0.1:9', { guard })).toThrow(type);
});
