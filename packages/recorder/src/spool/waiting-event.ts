import { realFiles } from '../journal/journal-files.ts';
import { loadUnread, survey } from '../journal/segment-survey.ts';
import { adoptedSegment, type ProcessJournal } from './process-journal.ts';

/** Identity of an event: ids, tool and time, but nothing of its arguments. */
export interface WaitingEvent {
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Time of the event, ISO 8601 in UTC. */
  readonly sourceTimestamp: string;
  readonly category: string;
  /** Name of the tool; undefined for categories without one. */
  readonly toolName: string | undefined;
}

/** Reads the events that wait in a journal, oldest first. Files that are gone or unreadable are skipped. */
export function* readWaitingEvents({ segments }: ProcessJournal): Generator<WaitingEvent> {
  for (const path of segments) yield* eventsIn(path);
}

function* eventsIn(path: string): Generator<WaitingEvent> {
  try {
    realFiles.assertOwnSegment(path);
    const segment = adoptedSegment(path, realFiles.size(path));
    survey(realFiles, segment);
    while (segment.unread > 0) {
      const { events } = loadUnread(realFiles, segment);
      for (const { body } of events) yield describeEvent(JSON.parse(body));
    }
  } catch {
    // The process delivered the events, or another took them over.
  }
}

/** Returns the identity of an event that is parsed but not validated. */
export function describeEvent(event: Record<string, unknown> | undefined): WaitingEvent {
  const { toolName } = (event?.payload ?? {}) as { toolName?: unknown };
  return {
    eventId: String(event?.eventId),
    agentId: String(event?.agentId),
    sessionId: String(event?.sessionId),
    sourceTimestamp: String(event?.sourceTimestamp),
    category: String(event?.category),
    toolName: typeof toolName === 'string' ? toolName : undefined,
  };
}
