import { QueuedEvent } from '../delivery/queued-event.ts';
import { identityOf } from '../events/event-body.ts';
import type { JournalFiles } from './journal-files.ts';
import type { Segment } from './segment.ts';
import { readChunk } from './segment-reader.ts';

/** Number of bytes read at once; their events take about a millisecond. */
const chunkBytes = 32 * 1024;

/**
 * Reads a segment written by another process: notes its settled events and counts the others.
 *
 * @returns the number of damaged records
 */
export function survey(files: JournalFiles, segment: Segment): number {
  const events = new Set<number>();
  let damaged = 0;
  for (let offset = 0, isLast = false; !isLast; ) {
    const chunk = readChunk(files, segment.path, offset, chunkBytes);
    for (const { offset: at, line } of chunk.lines) {
      if (!line) damaged += 1;
      else if (line.kind === 'event') events.add(at);
      else for (const settled of line.offsets) segment.passed.add(settled);
    }
    offset = chunk.nextOffset;
    isLast = chunk.isLast;
  }
  for (const offset of events) if (!segment.passed.has(offset)) segment.unread += 1;
  return damaged;
}

/** Result of {@link loadUnread}. */
export interface LoadedEvents {
  /** May be empty. */
  readonly events: readonly QueuedEvent[];
  /** Number of events that were counted but can no longer be read. */
  readonly damaged: number;
}

/** Continues reading from the segment's cursor. */
export function loadUnread(files: JournalFiles, segment: Segment): LoadedEvents {
  const chunk = readChunk(files, segment.path, segment.cursor, chunkBytes);
  const loaded: QueuedEvent[] = [];
  segment.cursor = chunk.nextOffset;
  for (const { offset, line } of chunk.lines) {
    if (line?.kind !== 'event' || !segment.isUnread(offset)) continue;
    segment.unread -= 1;
    const event = toQueuedEvent(line.originKey, line.body);
    segment.load(event, offset);
    loaded.push(event);
  }
  if (!chunk.isLast) return { events: loaded, damaged: 0 };
  // Do not wait for them.
  const damaged = segment.unread;
  segment.unread = 0;
  return { events: loaded, damaged };
}

function toQueuedEvent(originKey: string, body: string): QueuedEvent {
  const { eventId, sessionId, responseStatus } = identityOf(body);
  return new QueuedEvent({ eventId, sessionId, isImportant: responseStatus >= 400, body, originKey });
}
