import type { Admission, QuotaGate } from '../quota/quota-gate.ts';
import type { EventOutcome, NewEvent, RecordedEvent } from '../storage/event-recording.ts';
import type { Write } from '../storage/transaction.ts';
import type { EventWriter } from './event-writer.ts';

/** Writes the events of a tenant that its quotas allow. The outcome of each other event names the exceeded quota. */
export async function recordWithinQuota(
  eventWriter: EventWriter,
  gate: QuotaGate,
  write: Write,
  tenantId: number,
  events: readonly NewEvent[],
): Promise<EventOutcome[]> {
  const nowMs = Date.now();
  const { refusals, agents } = await gate.admit(write.db, tenantId, events, nowMs);
  if (!refusals) return eventWriter.write(write, tenantId, events, nowMs, agents);
  const admitted = events.filter((_, index) => refusals[index] === undefined);
  const recorded =
    admitted.length > 0 ? await eventWriter.write(write, tenantId, admitted, nowMs, agents) : [];
  return inOrder(refusals, recorded);
}

function inOrder(
  refusals: NonNullable<Admission['refusals']>,
  recorded: readonly RecordedEvent[],
): EventOutcome[] {
  let next = 0;
  return refusals.map((refused) => {
    if (refused) return { refused };
    next += 1;
    return recorded[next - 1] as RecordedEvent;
  });
}
