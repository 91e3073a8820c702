import { type Check, found, ok, type ServiceTime, skipped } from '../check.ts';

/** Difference from which on the order of sessions and the expiry of approvals suffer, in milliseconds. */
const maxDifferenceMs = 60_000;

/** Check of this machine's clock against the `Date` of the service's response (RFC 9110, section 6.6.1). */
export const clock: Check = {
  id: 'clock',
  title: 'Clock',
  requires: ['service'],
  run({ serviceTime }) {
    if (!serviceTime) return skipped('the service does not send its time');
    const { leastMs, estimateMs } = clockDifference(serviceTime);
    if (leastMs <= maxDifferenceMs) return ok(`within ${formatDuration(maxDifferenceMs)} of the service`);
    const difference = formatDuration(Math.abs(estimateMs));
    return found('clock-off', { difference, direction: estimateMs > 0 ? 'ahead of' : 'behind' });
  },
};

/** Difference between two clocks, in milliseconds. */
export interface ClockDifference {
  /** Best estimate; positive if this machine's clock is ahead. */
  readonly estimateMs: number;
  /** Smallest difference that explains the times, without a sign. */
  readonly leastMs: number;
}

/**
 * Compares this machine's clock with the service's. The service wrote its time at some moment between the request and
 * the response, in whole seconds.
 */
export function clockDifference({ sentAtMs, receivedAtMs, dateMs }: ServiceTime): ClockDifference {
  const estimateMs = (sentAtMs + receivedAtMs) / 2 - (dateMs + 500);
  const unsureMs = (receivedAtMs - sentAtMs) / 2 + 500;
  return { estimateMs, leastMs: Math.max(0, Math.abs(estimateMs) - unsureMs) };
}

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** Formats a duration in its largest unit, such as `3 hours`. */
function formatDuration(durationMs: number): string {
  const [unitMs, name] = units.find(([ms]) => durationMs >= ms) ?? [1000, 'second'];
  const count = Math.round(durationMs / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
