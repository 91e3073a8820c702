import { type Admission, admit } from '../quota/admission.ts';
import type { Write } from '../storage/transaction.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { EventOutcome, NewEvent, RecordedEvent } from './new-event.ts';

/** Writes those of a tenant's events that its quotas have room for, and says of the others which has none. */
export async function recordWithinQuota(
  recorder: EventRecorder,
  write: Write,
  tenantId: number,
  events: readonly NewEvent[],
): Promise<EventOutcome[]> {
  const nowMs = Date.now();
  const refusals = await admit(write.db, tenantId, events, nowMs);
  if (!refusals) return recorder.record(write, tenantId, events, nowMs);
  const admitted = events.filter((_, index) => refusals[index] === undefined);
  const recorded = admitted.length > 0 ? await recorder.record(write, tenantId, admitted, nowMs) : [];
  return inOrder(refusals, recorded);
}

function inOrder(refusals: Admission, recorded: readonly RecordedEvent[]): EventOutcome[] {
  let next = 0;
  return refusals.map((refused) => {
    if (refused) return { refused };
    next += 1;
    return recorded[next - 1] as RecordedEvent;
  });
}
