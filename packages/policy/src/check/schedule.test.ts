import { expect, test } from 'vitest';
import { agentRevoked, type FiredPolicy, type PolicyDefinition, scheduledPolicies } from './fired-policy.ts';
import { isTimeZone, type Schedule, scheduleReason } from './schedule.ts';

function includes(schedule: Partial<Schedule>, time: string): boolean {
  const complete = { timeZone: 'UTC', ...schedule };
  return scheduleReason(complete, 'deny', Date.parse(time)) !== undefined;
}

const office: Partial<Schedule> = { days: ['mon', 'fri'], from: '09:00', to: '17:30' };

// 2026-01-05 is a Monday.
test.each([
  ['2026-01-05T08:59:59.999Z', false],
  ['2026-01-05T09:00:00.000Z', true],
  ['2026-01-05T17:29:59.999Z', true],
  ['2026-01-05T17:30:00.000Z', false],
  ['2026-01-06T12:00:00.000Z', false],
  ['2026-01-09T12:00:00.000Z', true],
])('includes the start and excludes the end of a window: %s', (time, expected) => {
  expect(includes(office, time)).toBe(expected);
});

test.each([
  ['2026-01-09T22:00:00Z', true],
  ['2026-01-09T21:59:00Z', false],
  ['2026-01-10T05:59:00Z', true],
  ['2026-01-10T06:00:00Z', false],
  ['2026-01-10T22:30:00Z', false],
  ['2026-01-09T03:00:00Z', false],
])('a window over midnight belongs to the day of its start: %s', (time, expected) => {
  expect(includes({ days: ['fri'], from: '22:00', to: '06:00' }, time)).toBe(expected);
});

test('covers whole days without times, and every day without days', () => {
  expect(includes({ days: ['sat', 'sun'] }, '2026-01-10T00:00:00Z')).toBe(true);
  expect(includes({ days: ['sat', 'sun'] }, '2026-01-11T23:59:59Z')).toBe(true);
  expect(includes({ days: ['sat', 'sun'] }, '2026-01-12T00:00:00Z')).toBe(false);
  expect(includes({ from: '18:00', to: '24:00' }, '2026-01-07T23:59:00Z')).toBe(true);
  expect(includes({ from: '18:00', to: '24:00' }, '2026-01-08T00:00:00Z')).toBe(false);
  expect(includes({ from: '18:00', to: '00:00' }, '2026-01-08T00:00:00Z')).toBe(false);
});

test('reads the clock of the time zone, in summer and in winter', () => {
  const berlin = { timeZone: 'Europe/Berlin', from: '09:00', to: '10:00' };
  expect(includes(berlin, '2026-01-05T08:30:00Z')).toBe(true);
  expect(includes(berlin, '2026-07-06T07:30:00Z')).toBe(true);
  expect(includes(berlin, '2026-07-06T08:30:00Z')).toBe(false);
  // Monday in Auckland, still Sunday in UTC.
  expect(includes({ timeZone: 'Pacific/Auckland', days: ['mon'] }, '2026-01-04T12:00:00Z')).toBe(true);
});

test('includes an hour that occurs twice both times, and never one that is skipped', () => {
  const night = { timeZone: 'Europe/Berlin', from: '02:15', to: '02:45' };
  // 2026-10-25, 03:00 becomes 02:00.
  expect(includes(night, '2026-10-25T00:30:00Z')).toBe(true);
  expect(includes(night, '2026-10-25T01:30:00Z')).toBe(true);
  expect(includes(night, '2026-10-25T02:30:00Z')).toBe(false);
  // 2026-03-29, 02:00 becomes 03:00.
  const quarters = Array.from({ length: 96 }, (_, at) => Date.parse('2026-03-28T23:00:00Z') + at * 900_000);
  expect(quarters.filter((at) => includes(night, new Date(at).toISOString()))).toEqual([]);
});

test('an unknown time zone never permits an action', () => {
  const schedule = { timeZone: 'Mars/Olympus' };
  expect(isTimeZone('Mars/Olympus')).toBe(false);
  expect(isTimeZone('Asia/Kolkata')).toBe(true);
  for (const effect of ['deny', 'require_approval'] as const) {
    expect(scheduleReason(schedule, effect, 0)).toContain('Mars/Olympus is unknown');
  }
  expect(scheduleReason(schedule, 'allow', 0)).toBeUndefined();
});

test('keeps the policies that apply, with the reason', () => {
  const policy = (id: string, schedule: Schedule | null): FiredPolicy => {
    const definition: PolicyDefinition = { ...agentRevoked.policy.definition, schedule };
    return { policy: { id, definition }, why: 'the tool matches' };
  };
  const always = policy('pol_1', null);
  const matching = [
    always,
    policy('pol_2', { timeZone: 'UTC', ...office }),
    policy('pol_3', { timeZone: 'UTC' }),
  ];
  const found = scheduledPolicies(matching, Date.parse('2026-01-06T12:05:00Z'));
  expect(found).toEqual([
    always,
    { ...matching[2], why: 'the tool matches; it is tue 12:05 in UTC, within the schedule' },
  ]);
  expect(scheduledPolicies([always], 0)).toEqual([always]);
});
