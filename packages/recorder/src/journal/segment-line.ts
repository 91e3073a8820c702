import { crc32 } from 'node:zlib';

/** One line of a segment. */
export type SegmentLine =
  | { readonly kind: 'event'; readonly originKey: string; readonly body: string }
  /** The events at these offsets of the same segment need no further care. */
  | { readonly kind: 'settled'; readonly offsets: readonly number[] };

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * A segment is lines of text: a CRC-32 in hex, a tab, and a record. JSON has no raw line break and no raw tab, so
 * whatever happens to one line, the next begins behind the next line break.
 */
export function encodeEvent(originKey: string, body: string): string {
  const record = `E\t${originKey}\t${body}`;
  return `${checksum(record)}\t${record}\n`;
}

/** The line that settles events. It begins with a line break, in case a torn line stands before it. */
export function encodeSettled(offsets: readonly number[]): string {
  const record = `S\t${offsets.join(',')}`;
  return `\n${checksum(record)}\t${record}\n`;
}

/** Reads a line, without its line break; undefined when it is empty, torn or damaged. */
export function decodeLine(line: string): SegmentLine | undefined {
  const record = line.slice(9);
  if (line[8] !== '\t' || line.slice(0, 8) !== checksum(record)) return undefined;
  if (record.startsWith('S\t')) return { kind: 'settled', offsets: record.slice(2).split(',').map(Number) };
  const bodyAt = record.indexOf('\t', 2) + 1;
  if (!record.startsWith('E\t') || bodyAt === 0) return undefined;
  return { kind: 'event', originKey: record.slice(2, bodyAt - 1), body: record.slice(bodyAt) };
}
