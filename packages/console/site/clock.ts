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
