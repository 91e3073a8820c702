import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ExitAware } from './exit-hooks.ts';

// What other files of tests left in this process is none of these.
const key = Symbol.for('@actlog/recorder/exit-hooks');
const registry = globalThis as { [key]?: unknown };
const { [key]: others } = registry;
beforeEach(() => void delete registry[key]);
afterEach(() => void Object.assign(registry, { [key]: others }));

/** A copy of the module, as hot reload makes them. */
function loaded(): Promise<typeof import('./exit-hooks.ts')> {
  vi.resetModules();
  return import('./exit-hooks.ts');
}

test('what one throws at the end of the process keeps no other from ending, and does not get out', async () => {
  const { offExit, onExit } = await loaded();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const ended: string[] = [];
  const fail = () => {
    throw new Error('cannot end');
  };
  const broken: ExitAware = { beforeExit: fail, exit: fail };
  const whole: ExitAware = { beforeExit: () => ended.push('beforeExit'), exit: () => ended.push('exit') };
  onExit(broken);
  onExit(whole);
  onTestFinished(() => {
    offExit(broken);
    offExit(whole);
    warn.mockRestore();
  });
  process.listeners('beforeExit').at(-1)?.(0);
  process.listeners('exit').at(-1)?.(0);
  expect(ended).toEqual(['beforeExit', 'exit']);
  expect(warn.mock.calls).toEqual([
    ['[actlog] A recorder could not be ended: Error.'],
    ['[actlog] A recorder could not be ended: Error.'],
  ]);
});

test('all copies of this package share one listener', async () => {
  const copies = [await loaded(), await loaded(), await loaded()];
  const before = process.listenerCount('beforeExit') + process.listenerCount('exit');
  const ended: number[] = [];
  const recorders = copies.map((copy, load) => {
    const one = { beforeExit: () => ended.push(load), exit: () => ended.push(load) };
    return { ...copy, one };
  });
  for (const { onExit, one } of recorders) onExit(one);
  expect(process.listenerCount('beforeExit') + process.listenerCount('exit')).toBe(before + 2);
  process.listeners('beforeExit').at(-1)?.(0);
  expect(ended).toEqual([0, 1, 2]);
  for (const { offExit, one } of recorders) offExit(one);
  expect(process.listenerCount('beforeExit') + process.listenerCount('exit')).toBe(before);
});
