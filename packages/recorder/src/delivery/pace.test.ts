import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

function createPace(maxConcurrency = 8): { pace: Pace; passMs: (ms: number) => void } {
  let nowMs = 1_000;
  const pace = new Pace({ maxConcurrency, now: () => nowMs, random: () => 1 });
  return {
    pace,
    passMs: (ms) => {
      nowMs += ms;
    },
  };
}

test('as many as allowed are in flight', () => {
  const { pace } = createPace(2);
  expect([pace.allows(0), pace.allows(1), pace.allows(2)]).toEqual([true, true, false]);
});

test('after a failure everything waits, then one probe goes; each failed probe doubles the wait', () => {
  const { pace, passMs } = createPace();
  for (const waitMs of [100, 200, 400, 800]) {
    pace.failed();
    pace.failed(); // another that was in flight at the same time
    passMs(waitMs - 1);
    expect(pace.allows(0)).toBe(false);
    passMs(1);
    expect([pace.allows(0), pace.allows(1)]).toEqual([true, false]);
  }
  pace.succeeded();
  expect([pace.isOpen, pace.allows(7)]).toEqual([false, true]);
});

test('waits end at 30 seconds', () => {
  const { pace, passMs } = createPace();
  for (let round = 0; round < 30; round += 1) {
    pace.failed();
    expect(pace.quietForMs).toBeLessThanOrEqual(30_000);
    passMs(30_000);
  }
  pace.failed();
  expect(pace.quietForMs).toBe(30_000);
});

test('one Retry-After quiets all, the longest of several counts, and somebody who waits does not shorten it', () => {
  const { pace, passMs } = createPace();
  pace.throttled(2_000);
  pace.throttled(5_000);
  pace.throttled(1_000);
  pace.hurry();
  passMs(4_999);
  expect(pace.allows(0)).toBe(false);
  passMs(1);
  expect(pace.allows(0)).toBe(true);
});

test('a Retry-After of days is asked about earlier', () => {
  const { pace } = createPace();
  pace.failed(86_400_000);
  expect(pace.quietForMs).toBe(15 * 60_000);
});

test('a Retry-After of 0 is no leave to ask without a pause', () => {
  const { pace, passMs } = createPace();
  for (const waitMs of [100, 200, 400]) {
    pace.throttled(0);
    expect(pace.quietForMs).toBe(waitMs);
    passMs(waitMs);
  }
});

test('somebody who waits sends the next probe at once', () => {
  const { pace } = createPace();
  pace.failed();
  pace.hurry();
  expect([pace.allows(0), pace.allows(1)]).toEqual([true, false]);
});

test('concurrency halves when asked for a slower pace and grows back with success', () => {
  const { pace, passMs } = createPace(8);
  const allowed = () => [1, 2, 3, 4, 5, 6, 7, 8].filter((count) => pace.allows(count - 1)).length;
  pace.throttled(1_000);
  pace.throttled(1_000);
  passMs(1_000);
  pace.succeeded();
  expect(allowed()).toBe(4);
  for (let count = 0; count < 4; count += 1) pace.succeeded();
  expect(allowed()).toBe(5);
  for (let count = 0; count < 100; count += 1) pace.succeeded();
  expect(allowed()).toBe(8);
});
