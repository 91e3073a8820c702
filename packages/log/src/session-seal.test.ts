import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSeals, parseSeal, type SealedEvent, SessionChain } from './session-seal.ts';

/** The events of a process, and its seals after some of them. */
function run(process: string, count: number, sealedAt: readonly number[] = [count]) {
  const chain = new SessionChain();
  const seals = sealedAt.includes(0) ? [chain.seal(process)] : [];
  const events: SealedEvent[] = [];
  for (let number = 1; number <= count; number += 1) {
    const eventId = `${process}-${number}`;
    events.push({ eventId, process, sequence: chain.add(eventId) });
    if (sealedAt.includes(number)) seals.push(chain.seal(process));
  }
  return { events, seals };
}

test('chains the ids of events with SHA-256, from 32 zero bytes', () => {
  const chain = new SessionChain();
  expect(chain.seal('p')).toEqual({ process: 'p', count: 0, chain: '00'.repeat(32) });
  expect(chain.add('evt_1')).toBe(1);
  expect(chain.add('evt_2')).toBe(2);
  const sha256 = (before: Buffer, id: string) => createHash('sha256').update(before).update(id).digest();
  const expected = sha256(sha256(Buffer.alloc(32), 'evt_1'), 'evt_2').toString('hex');
  expect(chain.seal('p')).toEqual({ process: 'p', count: 2, chain: expected });
});

test('finds nothing in a complete record, in any order of arrival, of several processes', () => {
  const one = run('p', 9, [0, 4, 9]);
  const other = run('q', 3);
  const all = fc.shuffledSubarray([...one.events, ...other.events], { minLength: 12 });
  const seals = fc.shuffledSubarray([...one.seals, ...other.seals], { minLength: 4 });
  fc.assert(
    fc.property(all, seals, (events, some) => {
      expect(checkSeals(events, some)).toEqual([]);
    }),
  );
});

test('names every event that is missing, and no other', () => {
  const { events, seals } = run('p', 12);
  fc.assert(
    fc.property(fc.subarray(events), (kept) => {
      const missing = new Set(
        events.filter((event) => !kept.includes(event)).map(({ sequence }) => sequence),
      );
      const named = checkSeals(kept, seals).flatMap(({ code, message }) => {
        expect(code).toBe('event-missing');
        const [first = 0, last = first] = [...message.matchAll(/\d+/g)].map(Number);
        return Array.from({ length: last - first + 1 }, (_, index) => first + index);
      });
      expect(new Set(named)).toEqual(missing);
    }),
  );
});

test('finds an event that was replaced, and between which seals', () => {
  const { events, seals } = run('p', 10, [2, 4, 10]);
  const replaced = events.with(2, { ...(events[2] as SealedEvent), eventId: 'evt_x' });
  expect(checkSeals(replaced, seals)).toEqual([
    {
      process: 'p',
      code: 'event-changed',
      sequence: 3,
      message: 'Process p: one of the events 3 to 4 has another id than when it was sealed.',
    },
  ]);
});

test('finds two events with one number, and two seals over the same events', () => {
  const { events, seals } = run('p', 2);
  const twice = [...events, { eventId: 'evt_x', process: 'p', sequence: 2 }];
  expect(checkSeals(twice, seals)).toMatchObject([{ code: 'event-repeated', sequence: 2 }]);
  const other = { process: 'p', count: 2, chain: 'ab'.repeat(32) };
  expect(checkSeals(events, [...seals, other])).toMatchObject([{ code: 'seals-differ', sequence: 2 }]);
});

test('says which events no seal covers', () => {
  const { events, seals } = run('p', 5, [3]);
  expect(checkSeals(events, seals)).toEqual([
    {
      process: 'p',
      code: 'seal-missing',
      sequence: 4,
      message: 'Process p: events 4 to 5 have no seal: the process still runs, or it ended without one.',
    },
  ]);
  expect(checkSeals(events, [])).toMatchObject([{ code: 'seal-missing', sequence: 1 }]);
});

test('checks a seal over any number of events at once', () => {
  const seal = { process: 'p', count: Number.MAX_SAFE_INTEGER, chain: 'ab'.repeat(32) };
  expect(checkSeals([{ eventId: 'a', process: 'p', sequence: 2 ** 40 }], [seal])).toMatchObject([
    { code: 'event-missing', sequence: 1 },
    { code: 'event-missing', sequence: 2 ** 40 + 1 },
  ]);
});

test.each([
  [null, '`process`'],
  [{ process: '', count: 1, chain: 'ab'.repeat(32) }, '`process`'],
  [{ process: 'p', count: -1, chain: 'ab'.repeat(32) }, '`count`'],
  [{ process: 'p', count: 1.5, chain: 'ab'.repeat(32) }, '`count`'],
  [{ process: 'p', count: 1, chain: 'AB'.repeat(32) }, '`chain`'],
])('refuses the seal %o', (value, field) => {
  expect(() => parseSeal(value)).toThrow(field);
});

test('reads a seal back', () => {
  const [seal] = run('p', 3).seals;
  expect(parseSeal(JSON.parse(JSON.stringify(seal)))).toEqual(seal);
});
