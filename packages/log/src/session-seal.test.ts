import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSeals, parseSeal, type SessionSeal } from './session-seal.ts';

/** The events of a recorder, and its seals after some of them; the last one closes it. */
function run(sealer: string, count: number, sealedAt: readonly number[] = [count]) {
  const ids = Array.from({ length: count }, (_, index) => `${sealer}-${index + 1}`);
  let chain = Buffer.alloc(32);
  let from = 0;
  const seals: SessionSeal[] = sealedAt.map((at) => {
    const eventIds = ids.slice(from, at);
    for (const id of eventIds) chain = createHash('sha256').update(chain).update(id).digest();
    from = at;
    return { sealer, count: at, eventIds, chain: chain.toString('hex'), isLast: at === count };
  });
  return { ids, seals };
}

test('finds nothing in a complete record, in any order of arrival, of several recorders', () => {
  const one = run('p', 9, [2, 4, 9]);
  const other = run('q', 3);
  const ids = fc.shuffledSubarray([...one.ids, ...other.ids], { minLength: 12 });
  const seals = fc.shuffledSubarray([...one.seals, ...other.seals], { minLength: 4 });
  fc.assert(
    fc.property(ids, seals, (events, some) => {
      expect(checkSeals(events, some)).toEqual({ sealed: 12, unsealed: [], findings: [] });
    }),
  );
});

test('names every event that is missing, with its number, and no other', () => {
  const { ids, seals } = run('p', 12, [5, 12]);
  fc.assert(
    fc.property(fc.subarray(ids), (kept) => {
      const { findings, sealed } = checkSeals(kept, seals);
      const missing = ids.filter((id) => !kept.includes(id));
      expect(findings.map(({ eventId }) => eventId)).toEqual(missing);
      expect(findings.map(({ sequence }) => ids[sequence - 1])).toEqual(missing);
      expect(sealed).toBe(kept.length);
    }),
  );
});

test('names the events of a seal that is missing', () => {
  const { ids, seals } = run('p', 9, [2, 5, 9]);
  expect(checkSeals(ids, seals.toSpliced(1, 1))).toMatchObject({
    unsealed: ['p-3', 'p-4', 'p-5'],
    findings: [{ code: 'seal-missing', sequence: 3, message: expect.stringContaining('events 3 to 5') }],
  });
});

test('finds a seal that was changed to hide a missing event', () => {
  const { ids, seals } = run('p', 6, [3, 6]);
  const [first, second] = seals as [SessionSeal, SessionSeal];
  const shorter = { ...second, count: 5, eventIds: second.eventIds.slice(1) };
  const kept = ids.toSpliced(3, 1);
  expect(checkSeals(kept, [first, shorter]).findings).toMatchObject([{ code: 'seal-changed', sequence: 4 }]);
  const other = { ...second, eventIds: second.eventIds.with(0, 'q') };
  expect(checkSeals([...kept, 'q'], [first, other]).findings).toMatchObject([{ code: 'seal-changed' }]);
});

test('finds two seals about one event, but counts a repeated one once', () => {
  const { ids, seals } = run('p', 4, [2, 4]);
  const [first, second] = seals as [SessionSeal, SessionSeal];
  expect(checkSeals(ids, [first, first, second]).findings).toEqual([]);
  const forged = { ...first, count: 3, eventIds: ['p-3'] };
  expect(checkSeals(ids, [first, forged, second]).findings).toContainEqual(
    expect.objectContaining({ code: 'seal-changed', sequence: 3 }),
  );
});

test('says that a recorder was not closed, and which events no seal names', () => {
  const { ids, seals } = run('p', 4, [3, 4]);
  expect(checkSeals(ids, seals.slice(0, 1))).toMatchObject({
    sealed: 3,
    unsealed: ['p-4'],
    findings: [{ code: 'not-closed', sequence: 4 }],
  });
  expect(checkSeals(['a'], [])).toEqual({ sealed: 0, unsealed: ['a'], findings: [] });
});

test.each([
  [{ sealer: '' }, 'sealer'],
  [{ eventIds: [1] }, 'eventIds'],
  [{ eventIds: 'a' }, 'eventIds'],
  [{ count: 0 }, 'count'],
  [{ count: 1.5 }, 'count'],
  [{ chain: 'AB' }, 'chain'],
  [{ isLast: 1 }, 'isLast'],
])('refuses a seal with %j', (change, field) => {
  const seal = { sealer: 'p', count: 1, eventIds: ['a'], chain: '0'.repeat(64) };
  expect(parseSeal(seal)).toEqual(seal);
  expect(() => parseSeal({ ...seal, ...change })).toThrow(`\`${field}\` of a seal`);
});
