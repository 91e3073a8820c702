import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { TenantTurns, type Turn } from './tenant-turns.ts';

/** Returns work that logs each of its steps. */
function steps(log: string[], name: string, count: number): (turn: Turn) => Promise<void> {
  return async (turn) => {
    for (let step = 1; step <= count; step += 1) {
      if (step > 1) await turn();
      log.push(`${name}${step}`);
    }
  };
}

test('alternates between tenants, however much work one of them has', async () => {
  const turns = new TenantTurns(2);
  const log: string[] = [];
  const busy = ['a', 'b', 'c', 'd'].map((name) => turns.run(1, steps(log, name, 3)));
  const quiet = turns.run(2, steps(log, 'q', 3));
  await quiet;
  expect(log).toEqual(['a1', 'q1', 'a2', 'q2', 'a3', 'q3']);
  await Promise.all(busy);
  expect(log.filter((step) => !step.startsWith('q'))).toHaveLength(12);
});

test('resumes one piece of work per turn of the event loop', async () => {
  const turns = new TenantTurns(1);
  const log: string[] = [];
  const work = Promise.all(['a', 'b', 'c'].map((name) => turns.run(1, steps(log, name, 2))));
  const lengths: number[] = [];
  while (log.length < 6) {
    lengths.push(log.length);
    await nextLoopTurn();
  }
  await work;
  expect(lengths.every((length, index) => length - (lengths[index - 1] ?? length) <= 1)).toBe(true);
});

test('makes further work wait for another turn once a tenant has used up its time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const turns = new TenantTurns(1);
    const log: string[] = [];
    const busy = async (name: string) => {
      vi.advanceTimersByTime(2);
      log.push(name);
    };
    const first = turns.run(1, () => busy('a'));
    await first;
    const second = turns.run(1, () => busy('b'));
    const third = turns.run(1, () => busy('c'));
    const other = turns.run(2, () => busy('other'));
    expect(log).toEqual(['a', 'other']);
    await nextLoopTurn();
    expect(log).toEqual(['a', 'other', 'b']);
    await Promise.all([second, third, other]);
    expect(log).toEqual(['a', 'other', 'b', 'c']);
  } finally {
    vi.useRealTimers();
  }
});

test('starts work at once for a tenant without running work', () => {
  const log: string[] = [];
  void new TenantTurns(1).run(1, steps(log, 'a', 1));
  expect(log).toEqual(['a1']);
});

test('starts waiting work after a failure', async () => {
  const turns = new TenantTurns(1);
  const failed = turns.run(1, () => Promise.reject(new Error('no')));
  const next = turns.run(1, async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('does not start work whose caller has disconnected', async () => {
  const turns = new TenantTurns(1);
  const controller = new AbortController();
  const first = turns.run(1, (turn) => turn());
  let began = false;
  const second = turns.run(
    1,
    async () => {
      began = true;
    },
    () => controller.signal,
  );
  const third = turns.run(1, async () => 'third');
  controller.abort();
  await first;
  await expect(second).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(began).toBe(false);
  expect(await third).toBe('third');
});

test('rejects too much waiting work of one tenant, but not of another', async () => {
  const turns = new TenantTurns(1);
  let release = () => {};
  const first = turns.run(1, () => new Promise<void>((resolve) => (release = resolve)));
  const waiting = Array.from({ length: 1000 }, () => turns.run(1, async () => {}));
  await expect(turns.run(1, async () => {})).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(await turns.run(2, async () => 'other')).toBe('other');
  release();
  await Promise.all([first, ...waiting]);
});
