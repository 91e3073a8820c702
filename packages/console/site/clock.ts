import type { OverviewInterval } from '@actlog/protocol';
import { keepPreference, readPreference } from './preference.ts';

/** Tolerated clock difference in milliseconds: the header has whole seconds and arrives late. */
const toleratedMs = 30_000;

let aheadMs = 0;

/** Stores the service's time from a response (RFC 9110, section 6.6.1). */
export function noteTime(response: Response): void {
  const ms = Date.now() - Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(ms)) aheadMs = Math.abs(ms) > toleratedMs ? ms : 0;
}

/**
 * Returns the time of the service, which decides when things expire, even if the clock of this machine is
 * wrong.
 */
export function now(): Date {
  return new Date(Date.now() - aheadMs);
}

/** Time zone in which the page shows times: UTC if the user has chosen it; undefined for the zone of this machine. */
export const timeZone: 'UTC' | undefined = readPreference('timeZone') === 'UTC' ? 'UTC' : undefined;

/** Shows times in UTC or in the local zone from now on: loads the page again, as every time in it changes. */
export function chooseTimeZone(zone: 'UTC' | 'local'): void {
  keepPreference('timeZone', zone);
  location.reload();
}

/** Returns the name of the zone in which a time is shown: "UTC", "GMT+1". */
export function zoneName(moment: Date): string {
  if (timeZone !== undefined) return timeZone;
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' }).formatToParts(moment);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local time';
}

/** Part of the options of a format that sets the zone. */
export const inZone: Intl.DateTimeFormatOptions = timeZone === undefined ? {} : { timeZone };

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', ...inZone };
const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', ...inZone };

// In English, like the rest of the page. Days and their dates are in UTC.
const formats = {
  clock: new Intl.DateTimeFormat('en-GB', clock),
  date: new Intl.DateTimeFormat('en-GB', date),
  dateAndClock: new Intl.DateTimeFormat('en-GB', { ...date, ...clock }),
  utcDate: new Intl.DateTimeFormat('en-GB', { ...date, timeZone: 'UTC' }),
};

/** Formats the start of a bucket: "24 Nov, 14:00" in the zone of the page; "24 Nov (UTC)" for a day. */
export function bucketTime(at: string, interval: OverviewInterval): string {
  const moment = new Date(at);
  return interval === 'day' ? `${formats.utcDate.format(moment)} (UTC)` : formats.dateAndClock.format(moment);
}

/** Formats a label of a time axis: the clock, or the date at midnight and for days. */
export function axisTime(moment: Date, interval: OverviewInterval): string {
  if (interval === 'day') return formats.utcDate.format(moment);
  const isMidnight = formats.clock.format(moment) === '00:00';
  return (isMidnight ? formats.date : formats.clock).format(moment);
}
