import { expect, test, vi } from 'vitest';
import { Counters, Reporter } from './reporter.ts';

test('counts an unparsable event as lost without throwing', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const counters = new Counters();
  new Reporter({ onDrop: () => {} }, counters).dropped('{"eventId":', 'full');
  expect(counters.droppedByReason.full).toBe(1);
  expect(warn.mock.calls).toEqual([['[actlog] onDrop or onError threw: SyntaxError.']]);
  warn.mockRestore();
});

test('handles the rejection of an async callback', async () => {
  const { promise: warned, resolve } = Promise.withResolvers<unknown>();
  const warn = vi.spyOn(console, 'warn').mockImplementation(resolve);
  const onError = async () => {
    throw new TypeError('the log is gone');
  };
  new Reporter({ onError }, new Counters()).failed('outage', new Error('down'));
  expect(await warned).toBe('[actlog] onDrop or onError threw: TypeError.');
  warn.mockRestore();
});
