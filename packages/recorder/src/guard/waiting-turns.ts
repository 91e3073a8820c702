import { processWide } from '../process-wide.ts';

/** Half of the connections that the client opens to a service, all callers of the process together. */
const maxWaiting = 128;

const waiting = processWide('@actlog/recorder/waiting-calls', () => ({ count: 0 }));

/**
 * Whether a held call may have the service wait with its answer, for which it then takes a connection. Were there no
 * bound, many held calls would leave none for the questions of others. Whoever may wait gives the turn back.
 */
export function takeWaitingTurn(): boolean {
  if (waiting().count >= maxWaiting) return false;
  waiting().count += 1;
  return true;
}

/** Gives back what {@link takeWaitingTurn} gave. */
export function giveBackWaitingTurn(): void {
  waiting().count -= 1;
}
