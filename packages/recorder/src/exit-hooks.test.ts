import { expect, onTestFinished, test, vi } from 'vitest';
import { type ExitAware, offExit, onExit } from './exit-hooks.ts';

test('what one throws at the end of the process keeps no other from ending, and does not get out', () => {
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

test('copies of this package, as hot reload makes them, share one listener', async () => {
  const copies = [];
  for (let load = 0; load < 3; load += 1) {
    vi.resetModules();
    copies.push(await import('./exit-hooks.ts'));
  }
  const before = process.listenerCount('beforeExit') + process.listenerCount('exit');
  const ended: number[] = [];
  const loaded = copies.map((copy, load) => {
    const one = { beforeExit: () => ended.push(load), exit: () => ended.push(load) };
    return { ...copy, one };
  });
  for (const { onExit, one } of loaded) onExit(one);
  expect(process.listenerCount('beforeExit') + process.listenerCount('exit')).toBe(before + 2);
  process.listeners('beforeExit').at(-1)?.(0);
  expect(ended).toEqual([0, 1, 2]);
  for (const { offExit, one } of loaded) offExit(one);
  expect(process.listenerCount('beforeExit') + process.listenerCount('exit')).toBe(before);
});
