import type { JournalFiles } from './journal-files.ts';
import { decodeLine, type SegmentLine } from './segment-line.ts';

const lineBreak = 0x0a;

/** A line and where it stands. */
export interface PlacedLine {
  /** Bytes from the beginning of the file. */
  readonly offset: number;
  /** Undefined when the checksum does not match. */
  readonly line: SegmentLine | undefined;
}

/** Some lines, and where the next one begins. */
export interface SegmentChunk {
  readonly lines: readonly PlacedLine[];
  readonly nextOffset: number;
  /** Whether nothing stands behind: a torn last line counts as nothing. */
  readonly isLast: boolean;
}

/**
 * Reads whole lines from a place in a segment.
 *
 * @param maxBytes - how much is read in one go; a longer line is read whole all the same
 */
export function readChunk(files: JournalFiles, path: string, offset: number, maxBytes: number): SegmentChunk {
  const fd = files.openForRead(path);
  try {
    let buffer = Buffer.allocUnsafe(maxBytes);
    let length = readFully(files, fd, buffer, offset);
    while (length === buffer.length && buffer.lastIndexOf(lineBreak) < 0) {
      buffer = Buffer.allocUnsafe(buffer.length * 4);
      length = readFully(files, fd, buffer, offset);
    }
    return decodeLines(buffer.subarray(0, length), offset, length < buffer.length);
  } finally {
    files.close(fd);
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
