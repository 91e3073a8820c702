import { crc32 } from 'node:zlib';

/** One line of a segment. */
export type SegmentLine =
  | { readonly kind: 'event'; readonly originKey: string; readonly body: string }
  /** The events at these offsets of the same segment need no further handling. */
  | { readonly kind: 'settled'; readonly offsets: readonly number[] };

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * Encodes an event as a line: a CRC-32 in hex, a tab, and a record. JSON contains no raw line breaks or tabs, so a
 * damaged line does not affect the next one.
 */
export function encodeEvent(originKey: string, body: string): string {
  const record = `E\t${originKey}\t${body}`;
  return `${checksum(record)}\t${record}\n`;
}

/** Encodes settled events as a line. Starts with a line break, in case the line before is torn. */
export function encodeSettled(offsets: readonly number[]): string {
  const record = `S\t${offsets.join(',')}`;
  return `\n${checksum(record)}\t${record}\n`;
}

/** Decodes a line without its line break; undefined if it is empty, torn or damaged. */
export function decodeLine(line: string): SegmentLine | undefined {
  const record = line.slice(9);
  if (line[8] !== '\t' || line.slice(0, 8) !== checksum(record)) return undefined;
  if (record.startsWith('S\t')) return { kind: 'settled', offsets: record.slice(2).split(',').map(Number) };
  const bodyAt = record.indexOf('\t', 2) + 1;
  if (!record.startsWith('E\t') || bodyAt === 0) return undefined;
  return { kind: 'event', originKey: record.slice(2, bodyAt - 1), body: record.slice(bodyAt) };
}
