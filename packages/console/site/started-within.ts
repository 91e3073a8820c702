/** The moment at which a day, such as `2026-11-23`, begins where the person is; NaN where it is no day. */
function startOfDay(day: string, daysLater = 0): number {
  const [year = Number.NaN, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).getTime();
}

/**
 * The filter for sessions that began from one day until another, both included, as the person counts days. What is no
 * day bounds nothing.
 */
export function startedWithin(
  from: string,
  until: string,
): { readonly startedAfter?: string; readonly startedBefore?: string } {
  // Neither bound is included by the service.
  const [after, before] = [startOfDay(from) - 1, startOfDay(until, 1)];
  return {
    ...(after >= 0 && { startedAfter: new Date(after).toISOString() }),
    ...(before >= 0 && { startedBefore: new Date(before).toISOString() }),
  };
}
