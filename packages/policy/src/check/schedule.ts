import type { PolicyEffect, SentOf } from '@actlog/protocol';

/** Times at which a policy applies. */
export type Schedule = NonNullable<SentOf<'policies.get'>['schedule']>;

type Day = NonNullable<Schedule['days']>[number];

/** Days in the order of the week. */
const days: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const minutesPerDay = 24 * 60;

/** A time by the clock of a time zone. */
interface LocalTime {
  readonly day: Day;
  /** Minutes since midnight by the clock. */
  readonly minute: number;
  /** The time for people, such as `mon 09:30`. */
  readonly text: string;
}

/** `true` for the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Clocks of schedules. Creating one costs a hundred times as much as reading it. */
const clocks = new WeakMap<Schedule, Intl.DateTimeFormat>();

/** @throws RangeError for an unknown time zone. */
function localTime(schedule: Schedule, atMs: number): LocalTime {
  let clock = clocks.get(schedule);
  if (!clock) {
    const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    clock = new Intl.DateTimeFormat('en-US', { timeZone: schedule.timeZone, ...parts });
    clocks.set(schedule, clock);
  }
  const found = Object.fromEntries(clock.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const { weekday = '', hour = '', minute = '' } = found;
  const day = weekday.toLowerCase() as Day;
  return { day, minute: Number(hour) * 60 + Number(minute), text: `${day} ${hour}:${minute}` };
}

/** Returns the minutes since midnight of a time by the clock, such as `09:30`; 1,440 for `24:00`. */
function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number];
  return hours * 60 + minutes;
}

/** `true` if a time is in the schedule. A window that ends the next day belongs to the day on which it starts. */
function isWithin(schedule: Schedule, now: LocalTime): boolean {
  const { from = '00:00', to = '24:00' } = schedule;
  const given: readonly Day[] = schedule.days ?? days;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  if (start < end) return given.includes(now.day) && now.minute >= start && now.minute < end;
  const yesterday = days.at(days.indexOf(now.day) - 1) as Day;
  return (
    (given.includes(now.day) && now.minute >= start) ||
    (given.includes(yesterday) && now.minute < end % minutesPerDay)
  );
}

/** Step of a search for the end of a window, and its longest duration, in milliseconds. */
const minuteMs = 60_000;
const stepMs = 15 * minuteMs;
const longestWindowMs = 8 * 24 * 60 * minuteMs;

/**
 * Returns the end of the window that a time is in, to the minute; the time itself if the schedule does not include it.
 * A schedule without an end ends after eight days.
 *
 * @throws RangeError for an unknown time zone.
 */
export function scheduleEndMs(schedule: Schedule, atMs: number): number {
  const includes = (timeMs: number) => isWithin(schedule, localTime(schedule, timeMs));
  if (!includes(atMs)) return atMs;
  let endMs = Math.floor(atMs / minuteMs) * minuteMs;
  const lastMs = endMs + longestWindowMs;
  while (endMs < lastMs && includes(endMs + stepMs)) endMs += stepMs;
  while (endMs < lastMs && includes(endMs)) endMs += minuteMs;
  return endMs;
}

/**
 * Returns the reason why a schedule includes a time, for the reader of a check's response; undefined if it does not. The
 * clock of the time zone decides: an hour that occurs twice when clocks are set back is included twice, and one that
 * clocks skip never comes. A time zone that this platform does not know counts as included for deny and
 * require_approval, and not for allow, so that an error never permits an action.
 */
export function scheduleReason(schedule: Schedule, effect: PolicyEffect, atMs: number): string | undefined {
  const { timeZone } = schedule;
  try {
    const now = localTime(schedule, atMs);
    return isWithin(schedule, now) ? `it is ${now.text} in ${timeZone}, within the schedule` : undefined;
  } catch {
    if (effect === 'allow') return undefined;
    return `the time zone ${timeZone} is unknown here, which counts as within the schedule`;
  }
}
