import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BackgroundFlush } from './serverless.ts';

test('flushes again for an event recorded at the end of a flush', async () => {
  for (let turns = 0; turns < 10; turns += 1) {
    let pending = 0;
    const given: Promise<unknown>[] = [];
    const background = new BackgroundFlush(
      async () => {
        pending = 0;
      },
      (promise) => given.push(promise),
      () => {},
    );
    const record = (): void => {
      pending += 1;
      background.request();
    };
    record();
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    record();
    for (let index = 0; index < given.length; index += 1) await given[index];
    expect(pending).toBe(0);
  }
});

test('shares one flush between many events', async () => {
  const given: Promise<unknown>[] = [];
  let flushes = 0;
  const background = new BackgroundFlush(
    async () => {
      flushes += 1;
    },
    (promise) => given.push(promise),
    () => {},
  );
  background.request();
  await Promise.all(given);
  expect([given.length, flushes]).toEqual([1, 1]);
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('there is no current request');
    },
  ],
  ['rejects', () => Promise.reject(new Error('there is no current request'))],
])('reports a waitUntil that %s, and calls it again for the next event', async (_name, waitUntil) => {
  let flushes = 0;
  const told: unknown[] = [];
  const background = new BackgroundFlush(
    async () => {
      flushes += 1;
    },
    waitUntil,
    ({ cause }) => told.push((cause as Error).message),
  );
  for (let turn = 0; turn < 2; turn += 1) {
    background.request();
    await nextTurn();
  }
  expect([flushes, ...told]).toEqual([2, 'there is no current request', 'there is no current request']);
});
