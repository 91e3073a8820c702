/** Returns the start of a day such as `2026-11-23` in local time; NaN for an invalid day. */
function startOfDay(day: string, daysLater = 0): number {
  const [year = Number.NaN, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).getTime();
}

/**
 * Returns the filter for sessions that started between two days, both included, in local time. Invalid days are
 * ignored.
 */
export function startedWithin(
  from: string,
  until: string,
): { readonly startedAfter?: string; readonly startedBefore?: string } {
  // The bounds of the service are exclusive.
  const [after, before] = [startOfDay(from) - 1, startOfDay(until, 1)];
  return {
    ...(after >= 0 && { startedAfter: new Date(after).toISOString() }),
    ...(before >= 0 && { startedBefore: new Date(before).toISOString() }),
  };
}
