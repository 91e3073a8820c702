import { performance as processPerformance } from 'node:perf_hooks';
import { afterEach, expect, test, vi } from 'vitest';
import { useFakeTime, useRealTime } from '../../tests/fake-time.ts';
import { numberedEvent, numberOf } from '../../tests/journal-fixture.ts';
import { Counters } from '../counters.ts';
import { Reporter } from '../reporter.ts';
import type { Answer } from './answer.ts';
import { Deliverer } from './deliverer.ts';
import type { QueuedEvent } from './queued-event.ts';
import { SessionLanes } from './session-lanes.ts';

/** Sets the share of the time for which the event loop is busy from now on. */
function agentIsBusy(utilization: number): void {
  vi.spyOn(processPerformance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 0, utilization });
}

afterEach(() => {
  vi.restoreAllMocks();
  useRealTime();
});

/** A deliverer over a scripted transport, and the clock in the test's hands. */
function start(answer: (number: number) => Answer, events: QueuedEvent[]) {
  useFakeTime();
  agentIsBusy(0.1);
  const lanes = new SessionLanes();
  const counters = new Counters();
  const deadLettered: [number, string][] = [];
  const sent: number[] = [];
  const errors: string[] = [];
  for (const event of events) lanes.push(event);
  const deliverer = new Deliverer({
    lanes,
    counters,
    reporter: new Reporter({ onError: ({ message }) => errors.push(message) }, counters),
    refill: () => {},
    connect: async () => ({
      abort: () => {},
      send: (body, _headers, done) => {
        const number = Number(JSON.parse(body).eventId.slice(-12));
        sent.push(number);
        queueMicrotask(() => done(answer(number)));
      },
    }),
    headersFor: () => ({}),
    parseRetryAfter: (value) => Number(value) * 1000,
    deadLetter: (event, reason) => deadLettered.push([numberOf(event), reason]),
    onSettled: () => {},
    onFailed: () => {},
    maxConcurrency: 4,
    baseURL: 'http://127.0.0.1:8787',
  });
  deliverer.warmUp();
  return { deliverer, lanes, counters, deadLettered, sent, errors };
}

test('an event at which the service fails again and again is given up, while the others pass', async () => {
  const first = [0, 1, 2].map((number) => numberedEvent(number, { session: `s${number}` }));
  const { counters, deadLettered, deliverer, lanes, sent } = start(
    (number) => ({ status: number === 1 ? 500 : 202 }),
    first,
  );
  // Alone, it may be an outage for all that is known.
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(deadLettered).toEqual([]);
  expect(sent.length).toBeLessThan(200);
  for (let number = 3; number < 20; number += 1) {
    lanes.push(numberedEvent(number, { session: 'other' }));
    deliverer.wake();
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(deadLettered).toEqual([[1, 'HTTP 500']]);
  expect(counters.delivered).toBe(19);
  expect(lanes.length).toBe(0);
});

test('a fault that names a time is left alone for that long', async () => {
  const events = [0, 1].map((number) => numberedEvent(number, { session: `s${number}` }));
  let isMended = false;
  const { counters, sent } = start(
    () => (isMended ? { status: 202 } : { status: 500, retryAfter: '5' }),
    events,
  );
  await vi.advanceTimersByTimeAsync(4_000);
  expect(sent.length).toBe(2);
  isMended = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(counters.delivered).toBe(2);
});

test('a service that fails at everything is an outage: nothing is given up', async () => {
  let isMended = false;
  const { counters, deadLettered, sent } = start(
    () => ({ status: isMended ? 202 : 500 }),
    Array.from({ length: 20 }, (_, number) => numberedEvent(number, { session: `s${number % 5}` })),
  );
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(deadLettered).toEqual([]);
  expect(sent.length).toBeLessThan(200);
  isMended = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(counters.delivered).toBe(20);
});

test('a service that fails at the only event there is, is told of when that lasts, or when the process ends', async () => {
  const { deliverer, errors } = start(() => ({ status: 500 }), [numberedEvent(0)]);
  await vi.advanceTimersByTimeAsync(50);
  expect(errors).toEqual([]);
  deliverer.tellOfOutage();
  const told =
    'The service at http://127.0.0.1:8787 fails at events: HTTP 500. They are kept and tried again.';
  expect(errors).toEqual([told]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(errors.length).toBeGreaterThan(1);
  expect(new Set(errors)).toEqual(new Set([told]));
});

test('a connection that breaks once is no outage, however often the service has failed at that event', async () => {
  let answer: Answer = { status: 500 };
  const { errors, sent } = start(() => answer, [numberedEvent(0)]);
  await vi.advanceTimersByTimeAsync(60_000);
  const tries = sent.length;
  answer = { error: new Error('broken') };
  while (sent.length === tries) await vi.advanceTimersByTimeAsync(100);
  expect(errors.filter((message) => message.includes('cannot be reached'))).toEqual([]);
});

test('what is told of a service that takes nothing names its address', async () => {
  const [unreachable, misconfigured] = [{ error: new Error('down') }, { status: 401 }].map((answer) =>
    start(() => answer, [numberedEvent(0)]),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(unreachable?.errors[0]).toBe(
    'The service at http://127.0.0.1:8787 cannot be reached: Error. Events are kept and tried again.',
  );
  expect(misconfigured?.errors[0]).toContain('The service at http://127.0.0.1:8787 does not take events');
});

test('an event that can wait leaves together with those that come within a moment', async () => {
  const { deliverer, lanes, sent } = start(() => ({ status: 202 }), []);
  await vi.advanceTimersByTimeAsync(1000);
  for (const number of [0, 1]) {
    lanes.push(numberedEvent(number, { session: `s${number}` }));
    deliverer.gather();
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(25);
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1]);
  lanes.push(numberedEvent(2));
  deliverer.gather();
  deliverer.hurry();
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1, 2]);
  for (let number = 3; number < 3 + 256; number += 1) {
    lanes.push(numberedEvent(number, { session: `s${number}` }));
    deliverer.gather();
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1, 2, 3, 4, 5, 6]); // as many at a time as it may
});

test('an event that can wait leaves when the agent rests, and without a rest after half a second', async () => {
  const { deliverer, lanes, sent } = start(() => ({ status: 202 }), []);
  await vi.advanceTimersByTimeAsync(1000);
  agentIsBusy(0.9);
  lanes.push(numberedEvent(0));
  deliverer.gather();
  await vi.advanceTimersByTimeAsync(400);
  expect(sent).toEqual([]);
  agentIsBusy(0.1);
  await vi.advanceTimersByTimeAsync(52);
  expect(sent).toEqual([0]);
  agentIsBusy(0.9);
  lanes.push(numberedEvent(1));
  deliverer.gather();
  await vi.advanceTimersByTimeAsync(499);
  expect(sent).toEqual([0]);
  await vi.advanceTimersByTimeAsync(2);
  expect(sent).toEqual([0, 1]);
});

test('a quiet time that ends between two looks at the clock is not slept through', async () => {
  let tries = 0;
  const { counters } = start(
    () => ({ status: ++tries % 2 ? 503 : 202 }),
    Array.from({ length: 100 }, (_, number) => numberedEvent(number)),
  );
  // Timers are up to a millisecond early, as real ones are, and the clock goes on with every look at it.
  const startedMs = Date.now();
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - startedMs + (looks++ % 7) / 7);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(counters.delivered).toBe(100);
});
