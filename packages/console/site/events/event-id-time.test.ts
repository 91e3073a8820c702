import { expect, test } from 'vitest';
import { eventIdTime } from './event-id-time.ts';

test.each(['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F'])(
  'reads the time in %s',
  (eventId) => {
    // The example of RFC 9562, appendix A.6.
    expect(eventIdTime(eventId)).toEqual(new Date('2022-02-22T19:22:22.000Z'));
  },
);

test('reads the last time that fits', () => {
  expect(eventIdTime('ffffffff-ffff-7000-bfff-ffffffffffff')?.getTime()).toBe(2 ** 48 - 1);
});

test.each([
  ['version 4', '919108f7-52d1-4320-9bac-f847db4148a8'],
  ['version 1', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'],
  ['another variant', '017f22e2-79b0-7cc3-d8c4-dc0c0c07398f'],
  ['text around it', 'x017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
  ['no UUID', 'call-1'],
  ['nothing', ''],
])('returns no time for %s', (_what, eventId) => {
  expect(eventIdTime(eventId)).toBeUndefined();
});
