import { processWide } from '../lib/process-wide.ts';

/** Maximum number of waiting checks in the process: half of the connections that the client opens to a service. */
const maxWaiting = 128;

const waiting = processWide('@actlog/recorder/waiting-calls', () => ({ count: 0 }));

/**
 * Acquires a slot for a check of a held call that makes the service wait, and thereby occupies a connection. Without a
 * limit, many held calls would leave no connections for other checks. Returns `false` if no slot is free.
 */
export function acquireWaitSlot(): boolean {
  if (waiting().count >= maxWaiting) return false;
  waiting().count += 1;
  return true;
}

/** Releases a slot of {@link acquireWaitSlot}. */
export function releaseWaitSlot(): void {
  waiting().count -= 1;
}
