import { type JournalFiles, maxSegmentBytes } from './journal-files.ts';
import { decodeLine, type SegmentLine } from './segment-line.ts';

const lineBreak = 0x0a;
/** Maximum length of a line in bytes. Names, ids and hashes are bounded, so lines of the recorder are far shorter. */
const maxLineBytes = 256 * 1024;

/** A line and its offset. */
export interface PlacedLine {
  /** Offset in the file, in bytes. */
  readonly offset: number;
  /** Undefined if the checksum is wrong. */
  readonly line: SegmentLine | undefined;
}

/** Some lines, and the offset of the next one. */
export interface SegmentChunk {
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
export function readChunk(files: JournalFiles, path: string, offset: number, maxBytes: number): SegmentChunk {
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
