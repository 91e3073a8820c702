import { decisionCategory, toolCallCategory } from '@actlog/protocol';
import { ActivityChange } from '../storage/activity/activity-change.ts';
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
      change.add(timeMs, { events: 1 });
      continue;
    }
    const { toolName, responseStatus: status } = event.payload as {
      toolName: string;
      responseStatus: number;
    };
    const denials = status === deniedStatus ? 1 : 0;
    const call = { calls: 1, errors: status >= 400 ? 1 - denials : 0, denials };
    change.add(timeMs, { events: 1, ...call });
    change.addNamed('agent', event.agentId, timeMs, call);
    change.addNamed('tool', toolName, timeMs, call);
  }
  for (const { counted, summary } of sessions) {
    change.moveSession(counted, { startedMs: summary.started_ms, level: summary.risk_level });
  }
  return change;
}
