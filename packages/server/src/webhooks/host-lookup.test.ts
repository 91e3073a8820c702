import type { LookupFunction } from 'node:net';
import { expect, test, vi } from 'vitest';
import { HostLookup } from './address-guard.ts';

/** Returns a lookup that calls a fake system, and the names that this was asked for. */
function lookups() {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const system: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname);
    waiting.push(() => callback(null, [{ address: '192.0.2.1', family: 4 }]));
  };
  const { all } = new HostLookup(system);
  const resolve = (name: string) =>
    new Promise<unknown>((done) => {
      all(name, { all: true }, (error, found) => done(error ?? found));
    });
  const finish = () => {
    for (const one of waiting.splice(0)) one();
  };
  return { asked, resolve, finish };
}

test('asks once for all that wait for a name, and again after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { asked, resolve, finish } = lookups();
  const waiting = [resolve('hooks.example.com'), resolve('HOOKS.example.com')];
  finish();
  expect(await Promise.all(waiting)).toEqual([
    [{ address: '192.0.2.1', family: 4 }],
    [{ address: '192.0.2.1', family: 4 }],
  ]);
  vi.advanceTimersByTime(4900);
  await resolve('hooks.example.com');
  expect(asked).toEqual(['hooks.example.com']);
  vi.advanceTimersByTime(200);
  const again = resolve('hooks.example.com');
  finish();
  await again;
  expect(asked).toHaveLength(2);
  vi.useRealTimers();
});

test('never asks for names that cannot exist', async () => {
  const { asked, resolve } = lookups();
  expect(await resolve('a.invalid')).toMatchObject({ code: 'ENOTFOUND' });
  expect(await resolve('B.INVALID.')).toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toEqual([]);
});
