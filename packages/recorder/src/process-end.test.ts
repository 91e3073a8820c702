import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ExitAware } from './process-end.ts';

// Ignore receivers registered by other test files in this process.
const key = Symbol.for('@actlog/recorder/exit-hooks');
const registry = globalThis as { [key]?: unknown };
const { [key]: others } = registry;
beforeEach(() => void delete registry[key]);
afterEach(() => void Object.assign(registry, { [key]: others }));

/** Loads a copy of the module, like hot reload. */
function loaded(): Promise<typeof import('./process-end.ts')> {
  vi.resetModules();
  return import('./process-end.ts');
}

test('isolates errors of receivers at the end of the process', async () => {
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
    ['[actlog] A recorder could not be closed at exit: Error.'],
    ['[actlog] A recorder could not be closed at exit: Error.'],
  ]);
});

test('shares one listener between all copies of this package', async () => {
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
