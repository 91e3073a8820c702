import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { adapterCases, type Service, startSuiteService } from '../src/index.ts';
import { type Fault, isDenied, plainHarness } from './plain-agent.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

/** Adapters with one fault each, and the case that must detect it. */
const faults: Record<string, { readonly fault: Fault; readonly caughtBy: RegExp }> = {
  'records nothing': { fault: { hook: () => (_call, run) => run() }, caughtBy: /^records a call/ },
  'records every call twice': {
    fault: {
      hook: (hook) => (call, run) => hook(call, () => hook({ ...call, id: `${call.id}-again` }, run)),
    },
    caughtBy: /two runs under way|^records a call/,
  },
  'runs what was denied': {
    fault: {
      hook: (hook) => (call, run) =>
        hook(call, run).catch((error) => (isDenied(error) ? run() : Promise.reject(error))),
    },
    caughtBy: /^a denied call does not run/,
  },
  'runs the requested arguments after an approval of changed ones': {
    fault: { hook: (hook) => (call, run) => hook(call, () => run(call.arguments)) },
    caughtBy: /^held, then approved with changes/,
  },
  'ends the run after a denial': {
    fault: {
      hook: (hook) => async (call, run) => {
        try {
          return await hook(call, run);
        } catch (error) {
          throw isDenied(error) ? new Error('no') : error;
        }
      },
    },
    caughtBy: /^a denied call does not run/,
  },
  'does not hear of an abort': {
    fault: { call: ({ signal: _, ...call }) => call },
    caughtBy: /^held, then aborted/,
  },
  'takes the timeout of a caller for an abort': {
    fault: { traits: { statusOf: (_outcome, { signal }) => (signal?.aborted ? 499 : undefined) } },
    caughtBy: /^knows a call that the caller's timeout/,
  },
  'takes the words of a thrown error away': {
    fault: {
      hook: (hook) => (call, run) =>
        hook(call, run).catch((error) => {
          throw isDenied(error) ? error : new Error('failed');
        }),
    },
    caughtBy: /^keeps the run as it is when a tool throws/,
  },
  'hides what kind of error it was': { fault: { traits: { statusOf: () => 500 } }, caughtBy: /^knows/ },
  'says that it is another framework': {
    fault: { traits: { framework: 'other' } },
    caughtBy: /^says of itself/,
  },
  'loses the session': {
    fault: { call: (call) => ({ ...call, sessionId: 'lost' }) },
    caughtBy: /^records a call/,
  },
  'mixes up arguments': {
    fault: { call: (call) => ({ ...call, arguments: { text: 'always' } }) },
    caughtBy: /^records three calls/,
  },
  'asks functions of the user without care': {
    fault: {
      hook:
        (hook, { sessionId }) =>
        (call, run) => {
          if (typeof sessionId === 'function') sessionId();
          return hook(call, run);
        },
    },
    caughtBy: /^with a session function that throws/,
  },
  'does not know filters': {
    fault: { options: ({ include: _, exclude: __, ...rest }) => rest },
    caughtBy: /^only what is included/,
  },
  'does not know names': {
    fault: { options: ({ toolName: _, ...rest }) => rest },
    caughtBy: /can be mapped/,
  },
  'forgets the guard': {
    fault: { options: ({ guard: _, ...rest }) => rest },
    caughtBy: /^a guard of the adapter/,
  },
  'cannot hold, and does not say so': {
    fault: { traits: { canHold: false } },
    caughtBy: /^held, then approved/,
  },
  'passes no texts of the user': {
    fault: { text: (message) => (message.role === 'user' ? undefined : message) },
    caughtBy: /knows what the user wrote/,
  },
  'takes the system prompt for a text of the user': {
    fault: { text: ({ text }) => ({ role: 'user', text }) },
    caughtBy: /knows what the user wrote/,
  },
  'passes results with words of the framework around them': {
    fault: { traits: { resultOf: (result) => `The tool said: ${result}. This ends what it said.` } },
    caughtBy: /knows what the user wrote/,
  },
  'counts twice when installed twice': {
    fault: { call: ({ callId: _, ...call }) => call },
    caughtBy: /^installed twice/,
  },
};

test.each(Object.entries(faults))('an adapter that %s is caught', async (name, { fault, caughtBy }) => {
  const harness = plainHarness(fault);
  const due = adapterCases.filter(({ name: title }) => caughtBy.test(title));
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const failed: string[] = [];
  for (const [index, { name: title, check }] of due.entries()) {
    await check({ harness, service, sessionId: `${name}-${index}` }).catch(() => failed.push(title));
  }
  vi.restoreAllMocks();
  expect(failed).not.toEqual([]);
});
