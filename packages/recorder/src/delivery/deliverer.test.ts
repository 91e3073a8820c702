import { performance as processPerformance } from 'node:perf_hooks';
import { afterEach, expect, test, vi } from 'vitest';
import { useFakeTime, useRealTime } from '../../tests/fake-time.ts';
import { numberedEvent, numberOf } from '../../tests/journal-fixture.ts';
import { Counters, Reporter } from '../reporting/reporter.ts';
import { Deliverer } from './deliverer.ts';
import type { SendResult } from './send-result.ts';
import { type QueuedEvent, SessionQueues } from './session-queues.ts';

/** Sets the utilization of the event loop from now on. */
function setUtilization(utilization: number): void {
  vi.spyOn(processPerformance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 0, utilization });
}

afterEach(() => {
  vi.restoreAllMocks();
  useRealTime();
});

/** Creates a deliverer with a scripted transport and a clock controlled by the test. */
function start(result: (number: number) => SendResult, events: QueuedEvent[]) {
  useFakeTime();
  setUtilization(0.1);
  const queues = new SessionQueues();
  const counters = new Counters();
  const deadLettered: [number, string][] = [];
  const sent: number[] = [];
  const errors: string[] = [];
  for (const event of events) queues.push(event);
  const deliverer = new Deliverer({
    queues,
    counters,
    reporter: new Reporter({ onError: ({ message }) => errors.push(message) }, counters),
    refill: () => {},
    connect: async () => ({
      abort: () => {},
      send: (body, _headers, done) => {
        const number = Number(JSON.parse(body).eventId.slice(-12));
        sent.push(number);
        queueMicrotask(() => done(result(number)));
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
  return { deliverer, queues, counters, deadLettered, sent, errors };
}

test('gives up an event that fails repeatedly while others pass', async () => {
  const first = [0, 1, 2].map((number) => numberedEvent(number, { session: `s${number}` }));
  const { counters, deadLettered, deliverer, queues, sent } = start(
    (number) => ({ status: number === 1 ? 500 : 202 }),
    first,
  );
  // A single one might be an outage.
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(deadLettered).toEqual([]);
  expect(sent.length).toBeLessThan(200);
  for (let number = 3; number < 20; number += 1) {
    queues.push(numberedEvent(number, { session: 'other' }));
    deliverer.wake();
    await vi.advanceTimersByTimeAsync(60_000);
  }
  expect(deadLettered).toEqual([[1, 'HTTP 500']]);
  expect(counters.delivered).toBe(19);
  expect(queues.length).toBe(0);
});

test('follows the Retry-After of a fault', async () => {
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

test('treats a service that fails on everything as an outage and gives up nothing', async () => {
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

test('reports failures of a single event when they last or the process ends', async () => {
  const { deliverer, errors } = start(() => ({ status: 500 }), [numberedEvent(0)]);
  await vi.advanceTimersByTimeAsync(50);
  expect(errors).toEqual([]);
  deliverer.reportOutage();
  const told = 'The service at http://127.0.0.1:8787 fails on events: HTTP 500. They are kept and retried.';
  expect(errors).toEqual([told]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(errors.length).toBeGreaterThan(1);
  expect(new Set(errors)).toEqual(new Set([told]));
});

test('does not treat one broken connection as an outage after many faults', async () => {
  let result: SendResult = { status: 500 };
  const { errors, sent } = start(() => result, [numberedEvent(0)]);
  await vi.advanceTimersByTimeAsync(60_000);
  const tries = sent.length;
  result = { error: new Error('broken') };
  while (sent.length === tries) await vi.advanceTimersByTimeAsync(100);
  expect(errors.filter((message) => message.includes('cannot be reached'))).toEqual([]);
});

test('names the address of a failing service', async () => {
  const [unreachable, misconfigured] = [{ error: new Error('down') }, { status: 401 }].map((result) =>
    start(() => result, [numberedEvent(0)]),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(unreachable?.errors[0]).toBe(
    'The service at http://127.0.0.1:8787 cannot be reached: Error. Events are kept and retried.',
  );
  expect(misconfigured?.errors[0]).toContain('The service at http://127.0.0.1:8787 rejects events');
});

test('batches deferrable events recorded within a moment', async () => {
  const { deliverer, queues, sent } = start(() => ({ status: 202 }), []);
  await vi.advanceTimersByTimeAsync(1000);
  for (const number of [0, 1]) {
    queues.push(numberedEvent(number, { session: `s${number}` }));
    deliverer.gather();
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(25);
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1]);
  queues.push(numberedEvent(2));
  deliverer.gather();
  deliverer.hurry();
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1, 2]);
  for (let number = 3; number < 3 + 256; number += 1) {
    queues.push(numberedEvent(number, { session: `s${number}` }));
    deliverer.gather();
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual([0, 1, 2, 3, 4, 5, 6]); // up to the maximum concurrency
});

test('sends a deferrable event when the agent is idle, or after half a second', async () => {
  const { deliverer, queues, sent } = start(() => ({ status: 202 }), []);
  await vi.advanceTimersByTimeAsync(1000);
  setUtilization(0.9);
  queues.push(numberedEvent(0));
  deliverer.gather();
  await vi.advanceTimersByTimeAsync(400);
  expect(sent).toEqual([]);
  setUtilization(0.1);
  await vi.advanceTimersByTimeAsync(52);
  expect(sent).toEqual([0]);
  setUtilization(0.9);
  queues.push(numberedEvent(1));
  deliverer.gather();
  await vi.advanceTimersByTimeAsync(499);
  expect(sent).toEqual([0]);
  await vi.advanceTimersByTimeAsync(2);
  expect(sent).toEqual([0, 1]);
});

test('does not sleep through a pause that ends between two clock reads', async () => {
  let tries = 0;
  const { counters } = start(
    () => ({ status: ++tries % 2 ? 503 : 202 }),
    Array.from({ length: 100 }, (_, number) => numberedEvent(number)),
  );
  // Like real timers, these are up to a millisecond early, and the clock advances with every read.
  const startedMs = Date.now();
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - startedMs + (looks++ % 7) / 7);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(counters.delivered).toBe(100);
});
