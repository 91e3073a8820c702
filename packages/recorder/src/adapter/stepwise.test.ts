import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { stepwise } from './target-hooks.ts';

const place = new AsyncLocalStorage<string>();
const inside = <Value>(step: () => Value) => place.run('inside', step);

async function* placesOf(seen: unknown[]): AsyncGenerator<unknown, string, undefined> {
  try {
    yield place.getStore();
    yield place.getStore();
    return 'result';
  } finally {
    seen.push(place.getStore());
  }
}

test('runs each step with the function, and returns the result of the generator', async () => {
  const seen: unknown[] = [];
  const steps = stepwise(placesOf(seen), inside);
  expect(await steps.next()).toEqual({ value: 'inside', done: false });
  expect(place.getStore()).toBeUndefined();
  expect(await steps.next()).toEqual({ value: 'inside', done: false });
  expect(await steps.next()).toEqual({ value: 'result', done: true });
  expect(seen).toEqual(['inside']);
});

test('ends the generator with the function when its reader stops early', async () => {
  const seen: unknown[] = [];
  for await (const _ of stepwise(placesOf(seen), inside)) break;
  expect(seen).toEqual(['inside']);
});

test('passes on the error of the generator', async () => {
  async function* failing(): AsyncGenerator<unknown, void, undefined> {
    yield 1;
    throw new Error('broken');
  }
  const steps = stepwise(failing(), inside);
  await steps.next();
  await expect(steps.next()).rejects.toThrow('broken');
});
