/** Milliseconds by which clocks may differ without a person being misled: the header tells whole seconds, and late. */
const toleratedMs = 30_000;

let aheadMs = 0;

/** Notes what time it is for the service, which an answer tells (RFC 9110, section 6.6.1). */
export function noteTime(answer: Response): void {
  const ms = Date.now() - Date.parse(answer.headers.get('date') ?? '');
  if (!Number.isNaN(ms)) aheadMs = Math.abs(ms) > toleratedMs ? ms : 0;
}

/** The time as the service has it, by whose clock things expire, also where the clock of this machine is wrong. */
export function now(): Date {
  return new Date(Date.now() - aheadMs);
}
