import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '@actlog/client';
import { expect, onTestFinished, test } from 'vitest';
import { ActionDeniedError, diagnosticsChannels, type GuardOptions, Recorder } from '../src/index.ts';
import { type Reply, Sink, type SinkRequest } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const checkPath = '/v1/policies/check';

/** Starts a sink that accepts events and responds to checks in turn; the last response repeats. */
async function startService(
  ...responses: (Reply | ((request: SinkRequest) => Promise<Reply>))[]
): Promise<Sink> {
  let checks = 0;
  return Sink.start((request) => {
    if (request.path !== checkPath) return undefined;
    const response = responses[Math.min(checks, responses.length - 1)];
    checks += 1;
    return typeof response === 'function' ? response(request) : response;
  });
}

function decided(decision: string, rest: Record<string, unknown> = {}): Reply {
  return {
    status: 200,
    body: { decision, decidedBy: null, matched: [], pendingActionId: null, expiresAt: null, ...rest },
  };
}

function guarded(sink: Sink, guard: GuardOptions = {}): Recorder {
  return createRecorder(sink.url, { guard: { mode: 'enforce', onUnavailable: 'deny', ...guard } });
}

const call = { toolName: 'transfer', arguments: { amount: 100 }, sessionId: 'session', callId: 'call-1' };

async function statuses(recorder: Recorder, sink: Sink): Promise<unknown[]> {
  await recorder.flush();
  return sink.stored.map(({ payload }) => payload.responseStatus);
}

test('runs an allowed call after the check', async () => {
  const sink = await startService(decided('allow'));
  const recorder = guarded(sink, { environment: 'test' });
  let asked = 0;
  const result = await recorder.toolCall({ ...call, framework: 'langchain' }, () => {
    asked = sink.requests.length;
    return 'result';
  });
  expect([result, asked]).toEqual(['result', 1]);
  expect(sink.requests[0]?.body).toEqual({
    agentId: 'agent',
    sessionId: 'session',
    action: { toolName: 'transfer', argumentsHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    framework: 'langchain',
    environment: 'test',
    actionId: expect.any(String),
  });
  expect(await statuses(recorder, sink)).toEqual([200]);
  expect(recorder.stats().guard).toEqual({ allowed: 1, denied: 0, unavailable: 0 });
});

test.each([
  ['Überbau', undefined, 'Überbau'],
  ['one\nother', undefined, 'one\ufffdother'],
  ['x'.repeat(101), 'x'.repeat(100), 'x'.repeat(100)],
])('checks calls with an invalid framework name: %j', async (...names) => {
  const [framework, inHeader, inBody] = names;
  const sink = await startService(decided('deny'));
  const recorder = guarded(sink, { onUnavailable: 'allow' });
  const promise = recorder.toolCall({ ...call, framework }, () => 'ran');
  await expect(promise).rejects.toMatchObject({ because: 'denied' });
  expect(sink.requests[0]?.headers['x-service-framework']).toBe(inHeader);
  expect(sink.requests[0]?.body.framework).toBe(inBody);
});

test('does not run a denied call, and tells the model why', async () => {
  const matched = [
    {
      policyId: 'pol_1',
      policyName: 'No "large" transfers',
      effect: 'deny',
      mode: 'enforce',
      why: '',
      message: 'Transfers need a human',
    },
  ];
  const sink = await startService(decided('deny', { decidedBy: 'pol_1', matched }));
  const recorder = guarded(sink);
  let hasRun = false;
  const error = await recorder
    .toolCall(call, () => {
      hasRun = true;
    })
    .catch((thrown: unknown) => thrown);
  expect(hasRun).toBe(false);
  expect(ActionDeniedError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({
    code: 'ACTION_DENIED',
    toolName: 'transfer',
    because: 'denied',
    decision: 'deny',
    policyId: 'pol_1',
    policyName: 'No "large" transfers',
    message:
      'The call of the tool "transfer" was not run: it was denied by policy "No \\"large\\" transfers" (pol_1). Transfers need a human. Do not repeat the same call; choose another way or tell the user.',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

const holding = { policyId: 'pol_1', policyName: 'Transfers', effect: 'require_approval', mode: 'enforce' };

test.each<[string, Reply, string]>([
  [
    'a person denies it',
    decided('deny', { decidedBy: 'key_anna', pendingActionId: 'pac_1', matched: [holding] }),
    'a person denied it under policy "Transfers" (pol_1).',
  ],
  [
    'a person denies it after its policy was archived',
    decided('deny', { decidedBy: 'key_anna', pendingActionId: 'pac_1' }),
    'a person denied it under policy "Transfers" (pol_1).',
  ],
  [
    'nobody decides in time',
    decided('deny', { decidedBy: 'pol_1', pendingActionId: 'pac_1' }),
    `it needs a person's approval under policy "Transfers" (pol_1), and none was given in time.`,
  ],
  [
    'another policy denies it meanwhile',
    decided('deny', {
      decidedBy: 'pol_2',
      pendingActionId: 'pac_1',
      matched: [{ ...holding, policyId: 'pol_2', policyName: 'Freeze', effect: 'deny' }],
    }),
    'it was denied by policy "Freeze" (pol_2).',
  ],
  [
    'a service denies it without a name of the policy',
    decided('deny', { decidedBy: 'pol_3' }),
    'it was denied by policy pol_3.',
  ],
])('names the policy of a held call when %s', async (_, reply, words) => {
  const sink = await startService(
    decided('require_approval', { decidedBy: 'pol_1', pendingActionId: 'pac_1', matched: [holding] }),
    reply,
  );
  await expect(guarded(sink).toolCall(call, () => 'ran')).rejects.toMatchObject({
    message: expect.stringContaining(`"transfer" was not run: ${words}`),
  });
});

test('repeats the check of a held call with the same action until a person approves', async () => {
  const sink = await startService(decided('require_approval'), decided('require_approval'), decided('allow'));
  const recorder = guarded(sink);
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  const checks = sink.requests.filter(({ path }) => path === checkPath);
  expect(checks.map(({ headers }) => headers.prefer)).toEqual([undefined, 'wait=25', 'wait=25']);
  expect(new Set(checks.map(({ body }) => body.actionId)).size).toBe(1);
});

test('does not run a held call that a person denies', async () => {
  const sink = await startService(
    decided('require_approval'),
    decided('deny', {
      decidedBy: 'key_anna',
      pendingActionId: 'pac_1',
      matched: [{ policyId: 'pol_1', effect: 'require_approval', mode: 'enforce', why: '', message: 'Ask.' }],
      comment: 'Not without a backup',
    }),
  );
  const recorder = guarded(sink);
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    message: expect.stringContaining(
      'a person denied it under policy pol_1. Not without a backup. Do not repeat',
    ),
    deniedBy: 'person',
    policyId: 'pol_1',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('does not run an undecided held call, even if onUnavailable allows calls', async () => {
  const sink = await startService(decided('require_approval', { pendingActionId: 'pac_1' }), { status: 503 });
  const recorder = guarded(sink, { onUnavailable: 'allow', holdTimeoutMs: 100 });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'approval-timed-out',
    pendingActionId: 'pac_1',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('notices an approval between the last two checks of a held call', async () => {
  const sink = await startService(decided('require_approval'), decided('require_approval'), decided('allow'));
  const recorder = guarded(sink, { holdTimeoutMs: 100 });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect(await statuses(recorder, sink)).toEqual([200]);
});

/** Starts a service that approves a held call at the moment when its caller aborts. */
function startApprovalThatAborts(controller: AbortController) {
  return startService(decided('require_approval'), async () => {
    controller.abort(new Error('the user left'));
    return decided('allow');
  });
}

test('never runs a call aborted while held, even if approved at that moment', async () => {
  const controller = new AbortController();
  const sink = await startApprovalThatAborts(controller);
  const recorder = guarded(sink);
  let hasRun = false;
  const promise = recorder.toolCall({ ...call, signal: controller.signal }, () => {
    hasRun = true;
  });
  await expect(promise).rejects.toThrow('the user left');
  expect(hasRun).toBe(false);
  expect(await statuses(recorder, sink)).toEqual([499]);
});

test.each([
  ['as its last parameter', (signal: AbortSignal) => [{ id: 1 }, signal]],
  ['in its options', (signal: AbortSignal) => [{ id: 1 }, { signal }]],
  ['among its arguments', (signal: AbortSignal) => [{ id: 1, signal }]],
])('never runs a function with a signal %s that aborts during a hold', async (_, parameters) => {
  const controller = new AbortController();
  const sink = await startApprovalThatAborts(controller);
  const recorder = guarded(sink);
  let hasRun = false;
  const { drop } = recorder.instrument({
    drop: (..._: unknown[]) => {
      hasRun = true;
    },
  });
  await expect(drop(...parameters(controller.signal))).rejects.toThrow('the user left');
  expect(hasRun).toBe(false);
  expect(await statuses(recorder, sink)).toEqual([499]);
});

test('does not check an already aborted call', async () => {
  const sink = await startService(decided('allow'));
  const recorder = guarded(sink);
  await expect(recorder.toolCall({ ...call, signal: AbortSignal.abort() }, () => 'ran')).rejects.toThrow(
    /abort/,
  );
  expect(await statuses(recorder, sink)).toEqual([499]);
  expect(sink.requests.filter(({ path }) => path === checkPath)).toEqual([]);
});

test.each<[string, Reply]>([
  ['a service that is overloaded', { status: 503 }],
  ['a service that refuses the key', { status: 401 }],
  ['a response that is not an object', { status: 200, body: 'allow' }],
  ['a connection that breaks', { fault: 'reset' }],
  ['no response', { fault: 'hang' }],
])('treats %s as unavailable, and follows onUnavailable', async (_name, reply) => {
  const sink = await startService(reply);
  const denying = guarded(sink, { timeoutMs: 300 });
  await expect(denying.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(await statuses(denying, sink)).toEqual([403]);
  const allowing = guarded(sink, { timeoutMs: 300, onUnavailable: 'allow' });
  expect(await allowing.toolCall(call, () => 'ran')).toBe('ran');
  expect(allowing.stats().guard).toEqual({ allowed: 0, denied: 0, unavailable: 1 });
});

test.each<[string, Reply]>([
  ['HTTP 401: AUTHENTICATION_FAILED', { status: 401, body: { error: { code: 'AUTHENTICATION_FAILED' } } }],
  ['HTTP 404: HTTP_404', { status: 404, body: {} }],
  ['TIMEOUT', { fault: 'hang' }],
])('reports the reason of a failed check: %s', async (reason, reply) => {
  const sink = await startService(reply);
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'allow', timeoutMs: 100 },
    onError: (error) => errors.push(error),
  });
  await recorder.toolCall(call, () => 'ran');
  // The delivery of the event may have failed for the same reason by now.
  const ofChecks = errors.map(({ message }) => message).filter((message) => message.includes('policy check'));
  // A check during which the event loop stalled is repeated, and may fail again.
  expect(new Set(ofChecks)).toEqual(new Set([`A policy check failed (${reason}).`]));
});

test('sends only the selected arguments', async () => {
  const sink = await startService(decided('allow'));
  const recorder = guarded(sink, {
    showArguments: (args) => ({ amount: (args as { amount: number }).amount }),
  });
  await recorder.toolCall({ ...call, arguments: { amount: 100, pin: 'secret' } }, () => 'ran');
  expect(sink.requests[0]?.body.action).toMatchObject({ arguments: { amount: 100 } });
  expect(JSON.stringify(sink.requests)).not.toContain('secret');
});

test('sends the same arguments in every check of a held call', async () => {
  const sink = await startService(decided('require_approval'), decided('require_approval'), decided('allow'));
  let chosen = 0;
  const recorder = guarded(sink, {
    showArguments: () => {
      chosen += 1;
      return { chosen };
    },
  });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  const checks = sink.requests.filter(({ path }) => path === checkPath);
  expect(checks.map(({ body }) => body.action)).toEqual(
    Array(3).fill(expect.objectContaining({ arguments: { chosen: 1 } })),
  );
});

test('sends no arguments if showArguments throws, without exposing its error', async () => {
  const sink = await startService(decided('allow'));
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: {
      mode: 'enforce',
      onUnavailable: 'deny',
      showArguments: () => {
        throw new Error('pin secret');
      },
    },
    onError: (error) => errors.push(error),
  });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(sink.requests[0]?.body.action).not.toHaveProperty('arguments');
  expect(errors.map(({ message }) => message)).toEqual([
    'guard.showArguments threw; no arguments were sent.',
  ]);
});

test.each([
  ['denies', 'deny', 'allow', 'denied'],
  ['allows, and so does the user', 'allow', 'allow', 'ran'],
  ['allows, and the user does not', 'allow', 'deny', 'unavailable'],
] as const)(
  'does not bypass a policy that %s when showArguments throws',
  async (_name, decision, onUnavailable, outcome) => {
    const sink = await startService(decided(decision));
    const showArguments = (args: unknown) => ({ to: (args as { to: string }).to.toLowerCase() });
    const recorder = guarded(sink, { onUnavailable, showArguments });
    const given = { ...call, arguments: { to: 7 } };
    expect(await recorder.toolCall(given, () => 'ran').catch(({ because }) => because)).toBe(outcome);
    expect(recorder.stats().guard.allowed).toBe(0);
  },
);

test('observe reports a call without selectable arguments like enforce', async () => {
  const sink = await startService(decided('allow'));
  const showArguments = () => {
    throw new Error('pin secret');
  };
  const recorder = guarded(sink, { mode: 'observe', showArguments });
  const { promise: told, resolve } = Promise.withResolvers<unknown>();
  subscribe(diagnosticsChannels.guarded, resolve);
  onTestFinished(() => void unsubscribe(diagnosticsChannels.guarded, resolve));
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect(await told).toMatchObject({ decision: 'unavailable', isEnforced: false });
});

const tooMuch: Reply = { status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE', message: 'Too large.' } } };

test.each([
  ['denies without them', 'deny', 'allow', 'denied'],
  ['allows without them, and so does the user', 'allow', 'allow', 'ran'],
  ['allows without them, and the user does not', 'allow', 'deny', 'unavailable'],
] as const)(
  'does not bypass a policy that %s when the service rejects the arguments',
  async (_name, decision, onUnavailable, outcome) => {
    const sink = await startService(tooMuch, decided(decision));
    const recorder = guarded(sink, { onUnavailable, showArguments: () => ({ text: 'long' }) });
    const result = await recorder.toolCall(call, () => 'ran').catch(({ because }) => because);
    expect(result).toBe(outcome);
    const checks = sink.requests.filter(({ path }) => path === checkPath);
    const shown = { arguments: { text: 'long' } };
    expect(checks.map(({ body }) => body.action)).toEqual([
      expect.objectContaining(shown),
      expect.not.objectContaining(shown),
    ]);
    expect(new Set(checks.map(({ body }) => body.actionId)).size).toBe(1);
  },
);

test.each<[string, Reply]>([
  ['a connection that breaks', { fault: 'reset' }],
  ['a 502 of a proxy', { status: 502, body: '<html>' }],
])('does not bypass a denying policy with %s for large arguments', async (_name, reply) => {
  const sink = await startService();
  sink.respond = ({ path, body }) => {
    if (path !== checkPath) return undefined;
    return (body.action as { arguments?: unknown }).arguments ? reply : decided('deny');
  };
  const recorder = guarded(sink, {
    onUnavailable: 'allow',
    showArguments: () => ({ text: 'x'.repeat(300_000) }),
  });
  const result = await recorder.toolCall(call, () => 'ran').catch(({ because }) => because);
  expect(result).toBe('denied');
});

test('runs an approved call whose arguments the service rejected', async () => {
  const sink = await startService(tooMuch, decided('require_approval'), decided('allow'));
  const recorder = guarded(sink, { showArguments: () => ({ text: 'long' }) });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
});

test('does not run a call with a taken action id and unselectable arguments', async () => {
  const sink = await startService(tooMuch, { status: 409, body: {} }, decided('allow'));
  const recorder = guarded(sink, { showArguments: () => ({ text: 'long' }) });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
});

test('does not bypass a denying policy with arguments too large only with a new action id', async () => {
  const sink = await startService({ status: 409, body: {} }, tooMuch, decided('deny'));
  const recorder = guarded(sink, { onUnavailable: 'allow', showArguments: () => ({ text: 'long' }) });
  const promise = recorder.toolCall({ ...call, actionId: 'resumed' }, () => 'ran');
  await expect(promise).rejects.toMatchObject({ because: 'denied' });
});

test('times out a held call, even if the service hangs', async () => {
  const sink = await startService(decided('require_approval', { pendingActionId: 'pac_1' }), {
    fault: 'hang',
  });
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'deny', timeoutMs: 3_600_000, holdTimeoutMs: 100 },
    onError: (error) => errors.push(error),
  });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'approval-timed-out',
    pendingActionId: 'pac_1',
  });
  expect(errors).toEqual([]);
});

test.each(['allow', 'deny'] as const)(
  'does not run a call rejected by a quota if onUnavailable is %s',
  async (onUnavailable) => {
    const sink = await startService({
      status: 429,
      headers: { 'retry-after': '3600' },
      body: {
        error: { code: 'RATE_LIMITED', message: 'full', details: [{ path: '', code: 'quota_exceeded' }] },
      },
    });
    const errors: Error[] = [];
    const recorder = createRecorder(sink.url, {
      guard: { mode: 'enforce', onUnavailable },
      onError: (error) => errors.push(error),
    });
    await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
    expect(await statuses(recorder, sink)).toEqual([403]);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^A policy check was rejected .*a quota of the tenant is exhausted.*raise the quota/,
      ),
    ]);
  },
);

test('repeats the check of a held call after Retry-After', async () => {
  const sink = await startService(
    decided('require_approval'),
    { status: 429, headers: { 'retry-after': '77' }, body: { error: { code: 'RATE_LIMITED' } } },
    decided('allow'),
  );
  const waits: number[] = [];
  const clock: Clock = {
    now: () => performance.now(),
    wallClock: () => Date.now(),
    setTimeout: (callback, delayMs) => {
      waits.push(delayMs);
      return setTimeout(callback, delayMs === 77_000 ? 0 : delayMs);
    },
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    random: () => 0,
  };
  const recorder = createRecorder(sink.url, { clock, guard: { mode: 'enforce', onUnavailable: 'deny' } });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect(waits).toContain(77_000);
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

test.each<[string, unknown]>([
  ['a cycle', cycle],
  [
    'an object that is not JSON-serializable',
    {
      toJSON: () => {
        throw new Error('pin secret');
      },
    },
  ],
  ['a text', 'all of it'],
  ['a list', [1, 2]],
])('sends the check without arguments if showArguments returns %s', async (_name, shown) => {
  const sink = await startService(decided('deny'));
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: {
      mode: 'enforce',
      onUnavailable: 'allow',
      showArguments: () => shown as Record<string, unknown>,
    },
    onError: (error) => errors.push(error),
  });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  expect(sink.requests[0]?.body.action).not.toHaveProperty('arguments');
  expect(errors.map(({ message }) => message)).toEqual([
    'guard.showArguments returned a value that is not a JSON object; no arguments were sent.',
  ]);
});

test.each([
  ['gives', async () => ({ amount: 100 })],
  [
    'rejects',
    async () => {
      throw new Error('pin secret');
    },
  ],
  // biome-ignore lint/suspicious/noThenProperty: the promise of a library, which is none of the language's own
  ['gives a thenable of', () => ({ then: (given: (shown: unknown) => void) => given({ amount: 100 }) })],
])('reports an async showArguments that %s, and sends no arguments', async (_name, show) => {
  const sink = await startService(decided('allow'));
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'deny', showArguments: show as never },
    onError: (error) => errors.push(error),
  });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(sink.requests[0]?.body.action).not.toHaveProperty('arguments');
  expect(errors.map(({ message }) => message)).toEqual([
    'guard.showArguments returned a value that is not a JSON object; no arguments were sent.',
  ]);
});

test('observe delays and denies no call', async () => {
  const sink = await startService(decided('deny'));
  const recorder = guarded(sink, { mode: 'observe' });
  let asked = -1;
  const promise = recorder.toolCall(call, () => {
    asked = sink.requests.length;
    return 'ran';
  });
  expect(await promise).toBe('ran');
  expect(asked).toBe(0);
  await sink.until(() => sink.requests.some(({ path }) => path === checkPath));
  expect(sink.requests.find(({ path }) => path === checkPath)?.headers.prefer).toBe('dry-run');
  expect(await statuses(recorder, sink)).toEqual([200]);
});

test('observe counts checks even if the caller has aborted', async () => {
  const controller = new AbortController();
  const sink = await startService(async () => {
    controller.abort();
    return decided('deny');
  });
  const recorder = guarded(sink, { mode: 'observe' });
  const { promise: observed, resolve } = Promise.withResolvers<unknown>();
  subscribe(diagnosticsChannels.guarded, resolve);
  onTestFinished(() => void unsubscribe(diagnosticsChannels.guarded, resolve));
  await recorder.toolCall({ ...call, signal: controller.signal }, () => 'ran');
  expect(await observed).toMatchObject({ decision: 'deny', isEnforced: false });
  expect(recorder.stats().guard).toEqual({ allowed: 0, denied: 1, unavailable: 0 });
});

test('rejects a guard that is not an object', async () => {
  const sink = await startService();
  for (const guard of ['enforce', true] as never[]) {
    expect(() => createRecorder(sink.url, { guard })).toThrow(/guard must be of type object/);
  }
});

test('rejects enforce without onUnavailable', async () => {
  const sink = await startService();
  expect(() => createRecorder(sink.url, { guard: { mode: 'enforce' } })).toThrow(
    /guard.onUnavailable is missing/,
  );
});

test.each(['allow', 'deny'] as const)(
  'does not read a response of several megabytes, which may be a denial, and does not run the call: %s',
  async (onUnavailable) => {
    const matched = [{ policyId: 'pol_1', effect: 'deny', mode: 'enforce', message: 'x'.repeat(5_000_000) }];
    const sink = await startService(decided('deny', { matched }));
    const errors: string[] = [];
    const recorder = createRecorder(sink.url, {
      guard: { mode: 'enforce', onUnavailable },
      onError: ({ message }) => errors.push(message),
    });
    let ran = false;
    const result = recorder.toolCall(call, () => {
      ran = true;
    });
    await expect(result).rejects.toMatchObject({ code: 'ACTION_DENIED', because: 'unavailable' });
    expect(ran).toBe(false);
    expect(errors).toEqual([expect.stringContaining('is larger than 1048576 bytes')]);
    expect(sink.requests.filter(({ path }) => path === checkPath)).toHaveLength(1);
  },
);

test('sends a BigInt of the shown arguments as its digits', async () => {
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = async (_address, init) => {
    bodies.push(String(init?.body));
    return Response.json({ decision: 'allow' });
  };
  const recorder = new Recorder({
    apiKey: 'al_test_x',
    baseURL: 'http://127.0.0.1:9',
    fetch,
    spool: false,
    exitTimeoutMs: 0,
    guard: {
      mode: 'enforce',
      onUnavailable: 'deny',
      showArguments: (args) => args as Record<string, unknown>,
    },
  });
  const args = { ad: 1917043659912705297n };
  expect(await recorder.toolCall({ ...call, arguments: args }, () => 'ran')).toBe('ran');
  expect(bodies[0]).toContain('"arguments":{"ad":1917043659912705297}');
});
