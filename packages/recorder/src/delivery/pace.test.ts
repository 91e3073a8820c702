import { expect, test } from 'vitest';
import { Pace } from './deliverer.ts';

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

test('allows up to the maximum concurrency', () => {
  const { pace } = createPace(2);
  expect([pace.allows(0), pace.allows(1), pace.allows(2)]).toEqual([true, true, false]);
});

test('pauses after a failure, then allows one probe; each failed probe doubles the pause', () => {
  const { pace, passMs } = createPace();
  for (const waitMs of [100, 200, 400, 800]) {
    pace.failed();
    pace.failed(); // another one that was in flight at the same time
    passMs(waitMs - 1);
    expect(pace.allows(0)).toBe(false);
    passMs(1);
    expect([pace.allows(0), pace.allows(1)]).toEqual([true, false]);
  }
  pace.succeeded();
  expect([pace.isOpen, pace.allows(7)]).toEqual([false, true]);
});

test('limits pauses to 30 seconds', () => {
  const { pace, passMs } = createPace();
  for (let round = 0; round < 30; round += 1) {
    pace.failed();
    expect(pace.quietForMs).toBeLessThanOrEqual(30_000);
    passMs(30_000);
  }
  pace.failed();
  expect(pace.quietForMs).toBe(30_000);
});

test('pauses everything for the longest Retry-After, which hurry does not shorten', () => {
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

test('limits a Retry-After of days', () => {
  const { pace } = createPace();
  pace.failed(86_400_000);
  expect(pace.quietForMs).toBe(15 * 60_000);
});

test('pauses despite a Retry-After of 0', () => {
  const { pace, passMs } = createPace();
  for (const waitMs of [100, 200, 400]) {
    pace.throttled(0);
    expect(pace.quietForMs).toBe(waitMs);
    passMs(waitMs);
  }
});

test('allows the next probe at once after hurry', () => {
  const { pace } = createPace();
  pace.failed();
  pace.hurry();
  expect([pace.allows(0), pace.allows(1)]).toEqual([true, false]);
});

test('halves concurrency when throttled and restores it with successes', () => {
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
