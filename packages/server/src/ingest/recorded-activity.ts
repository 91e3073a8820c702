import { decisionCategory, toolCallCategory } from '@actlog/protocol';
import { ActivityChange, type CountedCall } from '../storage/activity/activity-change.ts';
import type { NewEvent } from '../storage/event-recording.ts';
import type { SessionFold } from './session-fold.ts';

/** Status of a call that was denied, and so did not run. */
const deniedStatus = 403;

/**
 * Returns the counts of events that were written, and of the sessions that they started or moved. The decisions that
 * the service itself records in a session are not counted as events.
 *
 * An event counts at its own time, as in lists, but not after its receipt: the clock of its sender may be ahead.
 */
export function recordedActivity(
  events: readonly NewEvent[],
  sessions: Iterable<SessionFold>,
): ActivityChange {
  const change = new ActivityChange();
  for (const { event, sourceMs, receivedMs } of events) {
    if (event.category === decisionCategory) continue;
    const timeMs = Math.min(sourceMs, receivedMs);
    if (event.category !== toolCallCategory) {
      change.addEvent(timeMs);
      continue;
    }
    const { toolName, responseStatus } = event.payload as { toolName: string; responseStatus: number };
    change.addCall(timeMs, { agentId: event.agentId, toolName, outcome: outcomeOf(responseStatus) });
  }
  for (const { counted, summary } of sessions) {
    change.moveSession(counted, { startedMs: summary.started_ms, level: summary.risk_level });
  }
  return change;
}

function outcomeOf(status: number): CountedCall['outcome'] {
  if (status === deniedStatus) return 'denial';
  return status >= 400 ? 'error' : 'success';
}
