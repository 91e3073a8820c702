import type { VerifiedCheckpoint } from './checkpoint.ts';
import { type DeletionRow, type LogRecord, recordEntry } from './leaf.ts';
import { LogError, parseBase64, shown } from './log-error.ts';
import { type Findings, messageOf } from './log-findings.ts';
import { equalBytes, hashBytes, leafHash, sha256 } from './merkle.ts';
import type { TrustPolicy } from './policy.ts';
import { parseProof, parseReceipt, ReceiptVerifier } from './receipt.ts';
import { readHashes, type Tile, type TileSource, tileAt, tilePath, tileWidth } from './tiles.ts';
import type { VerifiedTiles } from './verify-tiles.ts';

/** A record with its receipt, or with its salt and the index of its entry. */
export interface RecordToVerify extends LogRecord {
  readonly salt: string;
  readonly index?: number;
  readonly proof?: string;
}

/** Counts of compared records. */
export interface RecordCounts {
  readonly records: number;
  readonly deleted: number;
}

/** Records, and the log to compare them with. */
export interface RecordComparison {
  readonly tiles: TileSource;
  readonly verified: VerifiedTiles;
  readonly head: VerifiedCheckpoint;
  readonly policy: TrustPolicy;
  readonly records: Iterable<RecordToVerify> | AsyncIterable<RecordToVerify>;
  /** `true` if the records are all that the log has, so that a missing one is a finding. */
  readonly isComplete: boolean;
}

/** Compares records with the entries of a log whose tiles were verified. */
export async function compareRecords(
  { tiles, verified, head, policy, records, isComplete }: RecordComparison,
  findings: Findings,
): Promise<RecordCounts> {
  const receipts = new ReceiptVerifier(policy);
  const leaves = new LeafReader(tiles, verified, head.size);
  const seen = new Bits(head.size);
  const deleted = new Bits(head.size);
  const deletions: DeletionRow['entries'][number][] = [];
  let unchanged = 0;
  for await (const record of records) {
    const index = indexOf(record, findings);
    if (index === undefined) continue;
    const about = { record: { kind: record.kind, id: record.id }, entries: [index, index] as const };
    if (index >= head.size) {
      // It is in a later state than this copy of the log: its receipt alone can prove it.
      if (record.proof !== undefined && verifyByReceipt(receipts, record, findings)) {
        findings.add(
          'rolled-back',
          `The ${named(record)} is entry ${index}, but the log has ${head.size} entries.`,
          about,
        );
      } else if (record.proof === undefined) {
        findings.add(
          'record-changed',
          `The ${named(record)} claims entry ${index}, but the log has ${head.size} entries.`,
          about,
        );
      }
      continue;
    }
    seen.add(index);
    const leaf = await leaves.read(index).catch((error: unknown) => findings.addTileError(error));
    if (!leaf) continue;
    if (isEntry(record, leaf)) {
      unchanged += 1;
      if (record.kind === 'deletion') deletions.push(...deletedEntries(record.row));
    } else {
      findings.add(
        'record-changed',
        `The ${named(record)} is not what was logged as entry ${index}: the record or its salt was changed.`,
        about,
      );
    }
  }
  for (const [first, last] of deletions) deleted.addRange(first, last);
  for (const [first, last] of seen.and(deleted)) {
    findings.add(
      'record-undeleted',
      `${entriesText(first, last)} deleted according to the log, but the records are there.`,
      { entries: [first, last] },
    );
  }
  if (isComplete) {
    for (const [first, last] of seen.missing(deleted)) {
      findings.add(
        'record-missing',
        `${entriesText(first, last)} in the log without a record, and no deletion was logged.`,
        { entries: [first, last] },
      );
    }
  }
  return { records: unchanged, deleted: deleted.count };
}

/** Verifies a record by its receipt alone. Returns `false`, with a finding, if that fails. */
export function verifyByReceipt(
  receipts: ReceiptVerifier,
  record: RecordToVerify,
  findings: Findings,
): boolean {
  const about = { record: { kind: record.kind, id: record.id } };
  try {
    receipts.verify(parseReceipt(record), record.row);
    return true;
  } catch (error) {
    const code = LogError.is(error) && error.code === 'unproven' ? 'record-changed' : 'receipt-invalid';
    findings.add(code, `The ${named(record)}: ${messageOf(error)}`, about);
    return false;
  }
}

function indexOf(record: RecordToVerify, findings: Findings): number | undefined {
  try {
    if (record.proof !== undefined) return parseProof(record.proof).index;
    if (Number.isSafeInteger(record.index) && (record.index as number) >= 0) return record.index;
    throw new LogError('malformed', `\`index\` must be a whole number from 0, got ${record.index}.`);
  } catch (error) {
    const about = { record: { kind: record.kind, id: record.id } };
    findings.add('receipt-invalid', `The ${named(record)}: ${messageOf(error)}`, about);
    return undefined;
  }
}

/** Returns the entries that a deletion names, as far as it has the form. */
export function deletedEntries(row: unknown): DeletionRow['entries'] {
  const { entries } = (row ?? {}) as Partial<DeletionRow>;
  if (!Array.isArray(entries)) return [];
  return entries.filter(
    (range) => Array.isArray(range) && range.length === 2 && range.every(Number.isSafeInteger),
  );
}

function isEntry(record: RecordToVerify, leaf: Uint8Array): boolean {
  try {
    return equalBytes(leafHash(recordEntry(record, parseBase64('`salt`', record.salt))), leaf);
  } catch (error) {
    if (LogError.is(error) || error instanceof TypeError) return false;
    throw error;
  }
}

/** Reads verified hashes of entries, with the tile of the last one in memory: records mostly come in order. */
class LeafReader {
  readonly #tiles: TileSource;
  readonly #verified: VerifiedTiles;
  readonly #size: number;
  #index = -1;
  #hashes: Promise<Uint8Array | undefined> | undefined;

  constructor(tiles: TileSource, verified: VerifiedTiles, size: number) {
    this.#tiles = tiles;
    this.#verified = verified;
    this.#size = size;
  }

  /** Returns the hash of an entry; undefined if its tile was not verified, which is a finding already. */
  async read(entry: number): Promise<Uint8Array | undefined> {
    const index = Math.floor(entry / tileWidth);
    if (index !== this.#index || !this.#hashes) {
      this.#index = index;
      this.#hashes = this.#read(tileAt(0, index, this.#size) as Tile);
    }
    const place = (entry % tileWidth) * hashBytes;
    return (await this.#hashes)?.subarray(place, place + hashBytes);
  }

  async #read(tile: Tile): Promise<Uint8Array | undefined> {
    const digest = this.#verified.get(tile.index);
    if (!digest) return undefined;
    const hashes = await readHashes(this.#tiles, tile);
    if (equalBytes(sha256(hashes), digest)) return hashes;
    throw new LogError('malformed', `${tilePath(tile)} is another one each time that it is read.`);
  }
}

/** A set of entries: one bit for each. */
export class Bits {
  readonly #size: number;
  readonly #bytes: Uint8Array;
  count = 0;

  constructor(size: number) {
    this.#size = size;
    this.#bytes = new Uint8Array(Math.ceil(size / 8));
  }

  has(entry: number): boolean {
    return (((this.#bytes[Math.floor(entry / 8)] as number) >> (entry % 8)) & 1) === 1;
  }

  add(entry: number): void {
    if (this.has(entry)) return;
    this.#bytes[Math.floor(entry / 8)] = (this.#bytes[Math.floor(entry / 8)] as number) | (1 << (entry % 8));
    this.count += 1;
  }

  addRange(first: number, last: number): void {
    for (let entry = Math.max(0, first); entry <= Math.min(last, this.#size - 1); entry += 1) this.add(entry);
  }

  /** Returns the ranges of entries that are in both sets. */
  and(other: Bits): [first: number, last: number][] {
    return this.#ranges((entry) => this.has(entry) && other.has(entry));
  }

  /** Returns the ranges of entries that are in neither set. */
  missing(other: Bits): [first: number, last: number][] {
    return this.#ranges((entry) => !this.has(entry) && !other.has(entry));
  }

  #ranges(holds: (entry: number) => boolean): [first: number, last: number][] {
    const ranges: [number, number][] = [];
    for (let entry = 0; entry < this.#size; entry += 1) {
      if (!holds(entry)) continue;
      const range = ranges.at(-1);
      if (range && range[1] === entry - 1) range[1] = entry;
      else ranges.push([entry, entry]);
    }
    return ranges;
  }
}

function named({ kind, id }: Pick<LogRecord, 'kind' | 'id'>): string {
  return `${kind} ${shown(id)}`;
}

/** Returns entries as the beginning of a sentence. */
export function entriesText(first: number, last: number): string {
  return first === last ? `Entry ${first} is` : `Entries ${first} to ${last} are`;
}
