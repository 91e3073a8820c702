import { QueuedEvent } from '../delivery/session-queues.ts';
import { identityOf } from '../events/event.ts';
import { decodeLine, type JournalFiles, maxSegmentBytes, type Segment, type SegmentLine } from './segment.ts';

/** Number of bytes read at once; their events take about a millisecond. */
const chunkBytes = 32 * 1024;

/**
 * Reads a segment written by another process: records its settled events and counts the others.
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

const lineBreak = 0x0a;
/** Maximum length of a line in bytes. Names, ids and hashes are bounded, so lines of the recorder are far shorter. */
const maxLineBytes = 256 * 1024;

/** A line and its offset. */
interface PlacedLine {
  /** Offset in the file, in bytes. */
  readonly offset: number;
  /** Undefined if the checksum is wrong. */
  readonly line: SegmentLine | undefined;
}

/** Some lines, and the offset of the next one. */
interface SegmentChunk {
  readonly lines: readonly PlacedLine[];
  readonly nextOffset: number;
  /** `true` if no line follows; a torn last line does not count. */
  readonly isLast: boolean;
}

/**
 * Reads whole lines from an offset in a segment.
 *
 * @param maxBytes - number of bytes read at once. A longer line is still read completely, up to 256 KiB; beyond that it
 * counts as damaged and is skipped in chunks
 */
function readChunk(files: JournalFiles, path: string, offset: number, maxBytes: number): SegmentChunk {
  const fd = files.openForRead(path);
  try {
    let buffer = Buffer.allocUnsafe(maxBytes);
    let length = readFully(files, fd, buffer, offset);
    while (length === buffer.length && buffer.lastIndexOf(lineBreak) < 0) {
      if (length >= maxLineBytes) return skipLine(files, fd, buffer, offset);
      buffer = Buffer.allocUnsafe(Math.min(buffer.length * 4, maxLineBytes));
      length = readFully(files, fd, buffer, offset);
    }
    return decodeLines(buffer.subarray(0, length), offset, length < buffer.length);
  } finally {
    files.close(fd);
  }
}

/** Skips a line that is too long, reusing one buffer. */
function skipLine(files: JournalFiles, fd: number, buffer: Buffer, offset: number): SegmentChunk {
  const lines = [{ offset, line: undefined }];
  for (let at = offset + buffer.length; ; ) {
    const length = readFully(files, fd, buffer, at);
    const end = buffer.subarray(0, length).indexOf(lineBreak);
    if (end >= 0) return { lines, nextOffset: at + end + 1, isLast: false };
    at += length;
    if (length < buffer.length || at > maxSegmentBytes) return { lines, nextOffset: at, isLast: true };
  }
}

function readFully(files: JournalFiles, fd: number, buffer: Uint8Array, offset: number): number {
  let length = 0;
  while (length < buffer.length) {
    const read = files.read(fd, buffer.subarray(length), offset + length);
    if (read === 0) break;
    length += read;
  }
  return length;
}

function decodeLines(bytes: Buffer, offset: number, isLast: boolean): SegmentChunk {
  const lines: PlacedLine[] = [];
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(lineBreak, start);
    if (end < 0) break;
    if (end > start)
      lines.push({ offset: offset + start, line: decodeLine(bytes.toString('utf8', start, end)) });
    start = end + 1;
  }
  if (isLast && start < bytes.length) lines.push({ offset: offset + start, line: undefined });
  return { lines, nextOffset: offset + (isLast ? bytes.length : start), isLast };
}
