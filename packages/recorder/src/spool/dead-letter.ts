import { closeSync, constants, readFileSync } from 'node:fs';
import { openOwnFile } from '../journal/own-file.ts';
import { realFiles } from '../journal/segment.ts';
import { loadUnread, survey } from '../journal/segment-survey.ts';
import { deadLetterFiles } from '../outbox/dead-letters.ts';
import { adoptedSegment, type ProcessJournal } from './process-journal.ts';

/** An event that the service rejected permanently. */
export interface DeadLetter {
  /** Time of the rejection, ISO 8601 in UTC. */
  readonly deadLetteredAt: string;
  /** Status, code and message of the service. */
  readonly reason: string;
  readonly event: WaitingEvent;
}

/**
 * Reads the dead letters in the folder of a tenant, oldest first; at most 32 MiB are kept there. Incomplete lines are
 * skipped.
 *
 * @throws UntrustedFileError when other users could have written a file
 * @throws the system's error when a file cannot be read
 */
export function* readDeadLetters(tenantFolder: string): Generator<DeadLetter> {
  for (const path of deadLetterFiles(tenantFolder)) {
    for (const line of textOf(path).split('\n')) {
      const letter = parseLetter(line);
      if (letter) yield letter;
    }
  }
}

function textOf(path: string): string {
  let fd: number;
  try {
    fd = openOwnFile(path, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function parseLetter(line: string): DeadLetter | undefined {
  try {
    const { deadLetteredAt, reason, event } = JSON.parse(line);
    return { deadLetteredAt: String(deadLetteredAt), reason: String(reason), event: describeEvent(event) };
  } catch {
    return undefined;
  }
}

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
function describeEvent(event: Record<string, unknown> | undefined): WaitingEvent {
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
