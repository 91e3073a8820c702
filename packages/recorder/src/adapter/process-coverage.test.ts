import { expect, test } from 'vitest';
import type { AdapterCalls } from './adapter-calls.ts';
import { ProcessCoverage } from './target-hooks.ts';

test('the last recorder applies, in every copy of the adapter, and the one before when it ends', () => {
  const coverage = new ProcessCoverage('@actlog/recorder/test-coverage');
  const copy = new ProcessCoverage('@actlog/recorder/test-coverage');
  const [first, second] = [{}, {}] as AdapterCalls[] as [AdapterCalls, AdapterCalls];
  expect(copy.current).toBeUndefined();
  const endFirst = coverage.install(first);
  const endSecond = copy.install(second);
  expect(coverage.current).toBe(second);
  endSecond();
  endSecond();
  expect(copy.current).toBe(first);
  endFirst();
  expect(coverage.current).toBeUndefined();
});
