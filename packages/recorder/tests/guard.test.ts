import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '@actlog/client';
import { expect, onTestFinished, test } from 'vitest';
import { ActionDeniedError, diagnosticsChannels, type GuardOptions, type Recorder } from '../src/index.ts';
import { type Reply, Sink, type SinkRequest } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const checkPath = '/v1/policies/check';

/** A sink that takes events and answers checks in turn; the last answer stays. */
async function startService(
  ...answers: (Reply | ((request: SinkRequest) => Promise<Reply>))[]
): Promise<Sink> {
  let checks = 0;
  return Sink.start((request) => {
    if (request.path !== checkPath) return undefined;
    const answer = answers[Math.min(checks, answers.length - 1)];
    checks += 1;
    return typeof answer === 'function' ? answer(request) : answer;
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

test('a call that is allowed runs after it was asked about', async () => {
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
])('a framework whose name the service would not take is no way past the guard: %j', async (...names) => {
  const [framework, inHeader, inBody] = names;
  const sink = await startService(decided('deny'));
  const recorder = guarded(sink, { onUnavailable: 'allow' });
  const promise = recorder.toolCall({ ...call, framework }, () => 'ran');
  await expect(promise).rejects.toMatchObject({ because: 'denied' });
  expect(sink.requests[0]?.headers['x-service-framework']).toBe(inHeader);
  expect(sink.requests[0]?.body.framework).toBe(inBody);
});

test('a call that is denied does not run, and the model learns why', async () => {
  const matched = [
    { policyId: 'pol_1', effect: 'deny', mode: 'enforce', why: '', message: 'Transfers need a human' },
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
    message:
      'The call of the tool "transfer" was not run: it was denied by policy pol_1. Transfers need a human. Do not repeat the same call; choose another way or tell the user.',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('a held call asks again with the same action until a person approves', async () => {
  const sink = await startService(decided('require_approval'), decided('require_approval'), decided('allow'));
  const recorder = guarded(sink);
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  const checks = sink.requests.filter(({ path }) => path === checkPath);
  expect(checks.map(({ headers }) => headers.prefer)).toEqual([undefined, 'wait=25', 'wait=25']);
  expect(new Set(checks.map(({ body }) => body.actionId)).size).toBe(1);
});

test('a held call that a person denies does not run', async () => {
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
    message: expect.stringContaining('a person denied it. Not without a backup. Do not repeat'),
    deniedBy: 'person',
    policyId: 'pol_1',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('a held call that nobody decides about does not run, even where unchecked calls may', async () => {
  const sink = await startService(decided('require_approval', { pendingActionId: 'pac_1' }), { status: 503 });
  const recorder = guarded(sink, { onUnavailable: 'allow', holdTimeoutMs: 100 });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'approval-timed-out',
    pendingActionId: 'pac_1',
  });
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('a person who approves between the last two questions about a held call is heard', async () => {
  const sink = await startService(decided('require_approval'), decided('require_approval'), decided('allow'));
  const recorder = guarded(sink, { holdTimeoutMs: 100 });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect(await statuses(recorder, sink)).toEqual([200]);
});

/** A service that approves a held call at the very moment at which its caller aborts. */
function startApprovalThatAborts(controller: AbortController) {
  return startService(decided('require_approval'), async () => {
    controller.abort(new Error('the user left'));
    return decided('allow');
  });
}

test('a call that is aborted while held never runs, not even when the approval comes at that moment', async () => {
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
])(
  'a plain function with a signal %s never runs when that aborts while it is held',
  async (_, parameters) => {
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
  },
);

test('a call that is aborted already is not even asked about', async () => {
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
  ['a decision of another kind', decided('maybe')],
  ['an answer without a decision', { status: 200, body: { verdict: 'allow' } }],
  ['an answer that is no object', { status: 200, body: 'allow' }],
  ['a connection that breaks', { fault: 'reset' }],
  ['no answer', { fault: 'hang' }],
])('%s counts as unavailable: the user has chosen what happens then', async (_name, reply) => {
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
])('a check that fails is told with its reason: %s', async (reason, reply) => {
  const sink = await startService(reply);
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'allow', timeoutMs: 100 },
    onError: (error) => errors.push(error),
  });
  await recorder.toolCall(call, () => 'ran');
  expect(errors.map(({ message }) => message)).toEqual([`A policy check failed (${reason}).`]);
});

test('arguments are shown only as far as the user chose', async () => {
  const sink = await startService(decided('allow'));
  const recorder = guarded(sink, {
    showArguments: (args) => ({ amount: (args as { amount: number }).amount }),
  });
  await recorder.toolCall({ ...call, arguments: { amount: 100, pin: 'secret' } }, () => 'ran');
  expect(sink.requests[0]?.body.action).toMatchObject({ arguments: { amount: 100 } });
  expect(JSON.stringify(sink.requests)).not.toContain('secret');
});

test('showArguments that throws shows nothing, and its error stays inside', async () => {
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
  expect(errors.map(({ message }) => message)).toEqual(['guard.showArguments threw; nothing was shown.']);
});

test.each([
  ['denies', 'deny', 'allow', 'denied'],
  ['allows, and so does the user', 'allow', 'allow', 'ran'],
  ['allows, and the user does not', 'allow', 'deny', 'unavailable'],
] as const)(
  'arguments at which showArguments throws are no way past a policy that %s',
  async (_name, decision, onUnavailable, outcome) => {
    const sink = await startService(decided(decision));
    const showArguments = (args: unknown) => ({ to: (args as { to: string }).to.toLowerCase() });
    const recorder = guarded(sink, { onUnavailable, showArguments });
    const given = { ...call, arguments: { to: 7 } };
    expect(await recorder.toolCall(given, () => 'ran').catch(({ because }) => because)).toBe(outcome);
    expect(recorder.stats().guard.allowed).toBe(0);
  },
);

test('observe tells of a call whose arguments could not be shown as enforce would', async () => {
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
  'shown arguments that the service refuses are no way past a policy that %s',
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
])('%s at arguments that are too large is no way past a policy that denies', async (_name, reply) => {
  const sink = await startService();
  sink.answer = ({ path, body }) => {
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

test('a held call whose shown arguments the service refuses runs when a person approves', async () => {
  const sink = await startService(tooMuch, decided('require_approval'), decided('allow'));
  const recorder = guarded(sink, { showArguments: () => ({ text: 'long' }) });
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
});

test('an action id that is taken does not let a call run whose arguments could not be shown', async () => {
  const sink = await startService(tooMuch, { status: 409, body: {} }, decided('allow'));
  const recorder = guarded(sink, { showArguments: () => ({ text: 'long' }) });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
});

test('shown arguments that are too large only beside a new action id are no way past a policy that denies', async () => {
  const sink = await startService({ status: 409, body: {} }, tooMuch, decided('deny'));
  const recorder = guarded(sink, { onUnavailable: 'allow', showArguments: () => ({ text: 'long' }) });
  const promise = recorder.toolCall({ ...call, actionId: 'resumed' }, () => 'ran');
  await expect(promise).rejects.toMatchObject({ because: 'denied' });
});

test('a held call is given up when its time is over, even while the service hangs', async () => {
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

test('a held call asks again when Retry-After has passed', async () => {
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
  ['an integer that JSON cannot hold', { amount: 10n }],
  ['a cycle', cycle],
  [
    'an object that cannot be serialised',
    {
      toJSON: () => {
        throw new Error('pin secret');
      },
    },
  ],
  ['a text', 'all of it'],
  ['a list', [1, 2]],
])(
  'showArguments that gives %s shows nothing, and the policy is asked all the same',
  async (_name, shown) => {
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
      'guard.showArguments gave what is no JSON object; nothing was shown.',
    ]);
  },
);

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
])('showArguments that is asynchronous and %s shows nothing, and that is told', async (_name, show) => {
  const sink = await startService(decided('allow'));
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'deny', showArguments: show as never },
    onError: (error) => errors.push(error),
  });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
  expect(sink.requests[0]?.body.action).not.toHaveProperty('arguments');
  expect(errors.map(({ message }) => message)).toEqual([
    'guard.showArguments gave what is no JSON object; nothing was shown.',
  ]);
});

test('observe makes no call wait and refuses none', async () => {
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

test('what observe asked is counted, also when the caller has gone before the answer', async () => {
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

test('a guard that is no object is refused, because it would guard nothing', async () => {
  const sink = await startService();
  for (const guard of ['enforce', true] as never[]) {
    expect(() => createRecorder(sink.url, { guard })).toThrow(/guard must be of type object/);
  }
});

test('enforce without a choice for an unreachable service is refused', async () => {
  const sink = await startService();
  expect(() => createRecorder(sink.url, { guard: { mode: 'enforce' } })).toThrow(
    /guard.onUnavailable is missing/,
  );
});
