import type { VerifiedCheckpoint } from './checkpoint.ts';
import { type DeletionRow, type LogRecord, recordEntry } from './leaf.ts';
import { LogError, parseBase64, shown } from './log-error.ts';
import type { LogSource } from './log-source.ts';
import { completeRoot, equalBytes, hashBytes, leafHash, verifyConsistency } from './merkle.ts';
import type { TrustPolicy } from './policy.ts';
import { openTrustedCheckpoint, parseProof, parseReceipt, type Receipt, ReceiptVerifier } from './receipt.ts';
import {
  consistencyProof,
  readEntries,
  readHashes,
  type Tile,
  type TileSource,
  tileAt,
  tilePath,
  tileWidth,
  treeRoot,
} from './tiles.ts';

/** Kinds of problems that {@link verifyLog} finds. */
export type LogFindingCode =
  /** The checkpoint cannot be read, or the log or too few witnesses have signed it. */
  | 'checkpoint-untrusted'
  /** The log is shorter than an earlier checkpoint: an old backup was restored, or entries were removed. */
  | 'rolled-back'
  /** The log signed two different trees of one size. */
  | 'two-histories'
  /** The log does not begin with the entries of an earlier checkpoint. */
  | 'rewritten'
  /** A tile or bundle is missing. */
  | 'tile-missing'
  /** A tile does not fit the root of the checkpoint. */
  | 'tile-changed'
  /** An entry in a bundle is not the one that was signed. */
  | 'entry-changed'
  /** A record is not the one whose entry was signed. */
  | 'record-changed'
  /** An entry has no record, and no deletion in the log explains it. */
  | 'record-missing'
  /** A record is there, although the log has its deletion. */
  | 'record-undeleted'
  /** A receipt cannot be read, or its proof is wrong. */
  | 'receipt-invalid';

/** A problem of a log. */
export interface LogFinding {
  readonly code: LogFindingCode;
  /** First and last entry that it is about. */
  readonly entries?: readonly [first: number, last: number];
  /** The record that it is about. */
  readonly record?: Pick<LogRecord, 'kind' | 'id'>;
  /** The problem, as a sentence. */
  readonly message: string;
}

/** A time by which a log provably had its first entries, in the same order and with the same content. */
export interface Witnessed {
  /** Number of entries. */
  readonly size: number;
  /** Unix seconds. */
  readonly time: number;
  /** Name of the witness. */
  readonly witness: string;
}

/** Result of {@link verifyLog} and {@link verifyRecords}. */
export interface LogReport {
  /** Name of the log; undefined if its checkpoint is not trusted. */
  readonly origin: string | undefined;
  /** Number of entries that the checkpoint covers. */
  readonly size: number;
  /** `true` if nothing was found. */
  readonly isProven: boolean;
  /** Cosignatures of all valid checkpoints that the log continues, from the earliest. */
  readonly witnessed: readonly Witnessed[];
  /** Number of records that were compared with their entries, and are unchanged. */
  readonly records: number;
  /** Number of entries whose records were deleted, according to deletions in the log. */
  readonly deleted: number;
  readonly findings: readonly LogFinding[];
  /** `true` if there were more findings than are listed. */
  readonly hasMoreFindings: boolean;
}

/** A record with its receipt, or with its salt and the index of its entry. */
export interface RecordToVerify extends LogRecord {
  readonly salt: string;
  readonly index?: number;
  readonly proof?: string;
}

/** An earlier state of a log, such as one that an auditor kept. */
export interface EarlierLog {
  /** Signed checkpoint. */
  readonly checkpoint: string;
  /** Tiles at that time. With them, the first entry that was changed is found. */
  readonly tiles?: TileSource;
}

/** Options for {@link verifyLog}. */
export interface VerifyLogOptions {
  readonly policy: TrustPolicy;
  /** Earlier states that the log must continue. */
  readonly earlier?: readonly EarlierLog[];
  /** Records to compare with the entries. */
  readonly records?: Iterable<RecordToVerify> | AsyncIterable<RecordToVerify>;
  /** `true` if the records are all that the log has, so that a missing one is a finding. */
  readonly isComplete?: boolean;
  /** Maximum number of findings that are listed; 100 by default. */
  readonly maxFindings?: number;
}

class Findings {
  readonly #max: number;
  readonly list: LogFinding[] = [];
  hasMore = false;

  constructor(max = 100) {
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  add(code: LogFindingCode, message: string, about: Omit<LogFinding, 'code' | 'message'> = {}): void {
    if (this.list.length < this.#max) this.list.push({ code, message, ...about });
    else this.hasMore = true;
  }
}

/**
 * Verifies a whole log: its checkpoint, all its tiles and entries, that it continues earlier checkpoints, and that
 * records are those that were signed. A problem is a finding of the report, not an error.
 *
 * @throws Error when the source cannot be read
 */
export async function verifyLog(source: LogSource, options: VerifyLogOptions): Promise<LogReport> {
  const { policy, earlier = [], records, isComplete = false } = options;
  const findings = new Findings(options.maxFindings);
  const checkpoint = await openHead(source, policy, findings);
  if (!checkpoint) return reportOf(undefined, findings, []);
  const proven = [checkpoint];
  await verifyTiles(source.tiles, checkpoint, findings);
  for (const state of earlier) {
    const continued = await verifyEarlier(source.tiles, checkpoint, state, policy, findings);
    if (continued) proven.push(continued);
  }
  const counts = records
    ? await compareRecords(source.tiles, checkpoint, records, policy, isComplete, findings)
    : undefined;
  return reportOf(checkpoint, findings, proven, counts);
}

/**
 * Verifies records by their receipts alone, offline: that each is unchanged, and in the log that signed it. Without the
 * tiles of the log, it does not show which records are missing.
 */
export async function verifyRecords(
  records: Iterable<RecordToVerify> | AsyncIterable<RecordToVerify>,
  { policy, maxFindings }: Pick<VerifyLogOptions, 'policy' | 'maxFindings'>,
): Promise<LogReport> {
  const findings = new Findings(maxFindings);
  const receipts = new ReceiptVerifier(policy);
  let verified = 0;
  for await (const record of records) {
    if (verifyByReceipt(receipts, record, findings)) verified += 1;
  }
  const checkpoints = [...receipts.checkpoints].sort((left, right) => left.size - right.size);
  for (const [place, checkpoint] of checkpoints.entries()) {
    const before = checkpoints[place - 1];
    if (
      before?.size === checkpoint.size &&
      before.origin === checkpoint.origin &&
      !equalBytes(before.root, checkpoint.root)
    ) {
      findings.add('two-histories', twoHistories(checkpoint));
    }
  }
  return reportOf(checkpoints.at(-1), findings, checkpoints, { records: verified, deleted: 0 });
}

async function openHead(
  source: LogSource,
  policy: TrustPolicy,
  findings: Findings,
): Promise<VerifiedCheckpoint | undefined> {
  try {
    const note = await source.readCheckpoint();
    if (note !== undefined) return openTrustedCheckpoint(note, policy);
    findings.add('checkpoint-untrusted', 'The log has no checkpoint.');
  } catch (error) {
    findings.add('checkpoint-untrusted', messageOf(error));
  }
  return undefined;
}

/** Verifies all tiles from the top down: each hash of a tile is the root of a full tile below, down to the entries. */
async function verifyTiles(
  tiles: TileSource,
  { size, root }: VerifiedCheckpoint,
  findings: Findings,
): Promise<void> {
  try {
    if (!equalBytes(await treeRoot(tiles, size), root)) {
      const message =
        'The last tiles do not lead to the root of the checkpoint: entries were changed, removed or added.';
      findings.add('tile-changed', message, size > 0 ? { entries: [0, size - 1] } : {});
    }
  } catch (error) {
    addTileFinding(findings, error, size > 0 ? [0, size - 1] : undefined);
  }
  let level = 0;
  while (size >= tileWidth ** (level + 1)) level += 1;
  for (; level > 0; level -= 1) {
    for await (const [parent, hashes] of tilesAt(tiles, level, size, findings)) {
      for (let place = 0; place < parent.width; place += 1) {
        await verifyChild(
          tiles,
          parent,
          place,
          hashes.subarray(place * hashBytes, (place + 1) * hashBytes),
          findings,
        );
      }
    }
  }
  for await (const [tile, hashes] of tilesAt(tiles, 0, size, findings)) {
    const bundle = { ...tile, level: 'entries' } as const;
    const first = tile.index * tileWidth;
    try {
      for (const [place, entry] of (await readEntries(tiles, bundle)).entries()) {
        if (equalBytes(leafHash(entry), hashes.subarray(place * hashBytes, (place + 1) * hashBytes)))
          continue;
        const message = `Entry ${first + place} in ${tilePath(bundle)} is not the one that ${tilePath(tile)} has.`;
        findings.add('entry-changed', message, { entries: [first + place, first + place] });
      }
    } catch (error) {
      addTileFinding(findings, error, [first, first + tile.width - 1]);
    }
  }
}

async function verifyChild(
  tiles: TileSource,
  parent: Tile,
  place: number,
  hash: Uint8Array,
  findings: Findings,
): Promise<void> {
  const level = (parent.level as number) - 1;
  const child = { level, index: parent.index * tileWidth + place, width: tileWidth };
  const span = tileWidth ** (level + 1);
  const entries = [child.index * span, (child.index + 1) * span - 1] as const;
  try {
    if (equalBytes(completeRoot(await readHashes(tiles, child)), hash)) return;
    const message = `${tilePath(child)} does not fit ${tilePath(parent)}: of entries ${entries[0]} to ${entries[1]}, at least one was changed.`;
    findings.add('tile-changed', message, { entries });
  } catch (error) {
    addTileFinding(findings, error, entries);
  }
}

/** Reads the tiles of a level, a few at a time. Tiles that cannot be read have a finding from their parent. */
async function* tilesAt(
  tiles: TileSource,
  level: number,
  size: number,
  findings: Findings,
): AsyncGenerator<[Tile, Uint8Array]> {
  for (let index = 0; ; index += 1) {
    const tile = tileAt(level, index, size);
    if (!tile) return;
    try {
      yield [tile, await readHashes(tiles, tile)];
    } catch (error) {
      const span = tileWidth ** (level + 1);
      addTileFinding(findings, error, [index * span, Math.min(size, (index + 1) * span) - 1]);
    }
  }
}

function addTileFinding(
  findings: Findings,
  error: unknown,
  entries: readonly [number, number] | undefined,
): void {
  if (!LogError.is(error)) throw error;
  const code = error.code === 'missing' ? 'tile-missing' : 'tile-changed';
  if (findings.list.some((finding) => finding.code === code && finding.message === error.message)) return;
  findings.add(code, error.message, entries ? { entries } : {});
}

/** Verifies that the log continues an earlier state. Returns the checkpoint of that state if it does. */
async function verifyEarlier(
  tiles: TileSource,
  head: VerifiedCheckpoint,
  state: EarlierLog,
  policy: TrustPolicy,
  findings: Findings,
): Promise<VerifiedCheckpoint | undefined> {
  let old: VerifiedCheckpoint;
  try {
    // Its cosignatures may be fewer than are demanded of the current one.
    old = openTrustedCheckpoint(state.checkpoint, { ...policy, isSatisfiedBy: () => true });
    if (old.origin !== head.origin) throw new LogError('untrusted', `It is of the log ${shown(old.origin)}.`);
  } catch (error) {
    findings.add('checkpoint-untrusted', `The earlier checkpoint cannot be used: ${messageOf(error)}`);
    return undefined;
  }
  if (old.size > head.size) {
    const message = `The log has ${head.size} entries, but had signed ${old.size} before: an old backup was restored, or entries ${head.size} to ${old.size - 1} were removed.`;
    findings.add('rolled-back', message, { entries: [head.size, old.size - 1] });
    if (state.tiles) await findDifference(tiles, state.tiles, head.size, findings);
    return undefined;
  }
  try {
    const proof = old.size === head.size ? [] : await consistencyProof(tiles, old.size, head.size);
    verifyConsistency({ oldSize: old.size, oldRoot: old.root, size: head.size, root: head.root, proof });
    return old;
  } catch (error) {
    if (!LogError.is(error)) throw error;
    if (error.code === 'unproven') {
      const first = state.tiles ? await firstDifference(tiles, state.tiles, old.size) : undefined;
      const where = first === undefined ? '' : ` The first entry that differs is ${first}.`;
      const about = first === undefined ? {} : { entries: [first, old.size - 1] as const };
      if (old.size === head.size) findings.add('two-histories', `${twoHistories(head)}${where}`, about);
      else
        findings.add(
          'rewritten',
          `The log does not begin with the ${old.size} entries that it had signed before.${where}`,
          about,
        );
    } else {
      addTileFinding(findings, error, undefined);
    }
    return undefined;
  }
}

async function findDifference(
  tiles: TileSource,
  earlier: TileSource,
  size: number,
  findings: Findings,
): Promise<void> {
  const first = await firstDifference(tiles, earlier, size);
  if (first === undefined) return;
  const message = `The first entry that differs from the earlier state is ${first}.`;
  findings.add('rewritten', message, { entries: [first, size - 1] });
}

/** Returns the first of the entries before `size` that two copies of a log have differently. */
async function firstDifference(
  left: TileSource,
  right: TileSource,
  size: number,
): Promise<number | undefined> {
  for (let index = 0; ; index += 1) {
    const tile = tileAt(0, index, size);
    if (!tile) return undefined;
    const [one, other] = await Promise.all([readHashes(left, tile), readHashes(right, tile)]);
    if (equalBytes(one, other)) continue;
    const at = one.findIndex((byte, place) => byte !== other[place]);
    return index * tileWidth + Math.floor(at / hashBytes);
  }
}

/** Counts of compared records. */
interface RecordCounts {
  readonly records: number;
  readonly deleted: number;
}

async function compareRecords(
  tiles: TileSource,
  head: VerifiedCheckpoint,
  records: NonNullable<VerifyLogOptions['records']>,
  policy: TrustPolicy,
  isComplete: boolean,
  findings: Findings,
): Promise<RecordCounts> {
  const receipts = new ReceiptVerifier(policy);
  const leaves = new LeafReader(tiles, head.size);
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
    const leaf = await leaves.read(index).catch((error: unknown) => {
      if (LogError.is(error)) return undefined; // A finding of the tile.
      throw error;
    });
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
      `${capitalized(entriesText(first, last))} deleted according to the log, but the records are there.`,
      { entries: [first, last] },
    );
  }
  if (isComplete) {
    for (const [first, last] of seen.missing(deleted)) {
      findings.add(
        'record-missing',
        `${capitalized(entriesText(first, last))} in the log without a record, and no deletion was logged.`,
        { entries: [first, last] },
      );
    }
  }
  return { records: unchanged, deleted: deleted.count };
}

function verifyByReceipt(receipts: ReceiptVerifier, record: RecordToVerify, findings: Findings): boolean {
  const about = { record: { kind: record.kind, id: record.id } };
  try {
    receipts.verify(parseReceipt(record) as Receipt, record.row);
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
function deletedEntries(row: unknown): DeletionRow['entries'] {
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

/** Reads hashes of entries, with the tile of the last one in memory: records mostly come in order. */
class LeafReader {
  readonly #tiles: TileSource;
  readonly #size: number;
  #index = -1;
  #hashes: Promise<Uint8Array> | undefined;

  constructor(tiles: TileSource, size: number) {
    this.#tiles = tiles;
    this.#size = size;
  }

  async read(entry: number): Promise<Uint8Array> {
    const index = Math.floor(entry / tileWidth);
    if (index !== this.#index || !this.#hashes) {
      this.#index = index;
      this.#hashes = readHashes(this.#tiles, tileAt(0, index, this.#size) as Tile);
    }
    const place = (entry % tileWidth) * hashBytes;
    return (await this.#hashes).subarray(place, place + hashBytes);
  }
}

/** A set of entries: one bit for each. */
class Bits {
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

function reportOf(
  head: VerifiedCheckpoint | undefined,
  findings: Findings,
  proven: readonly VerifiedCheckpoint[],
  { records, deleted }: RecordCounts = { records: 0, deleted: 0 },
): LogReport {
  const witnessed = proven.flatMap(({ size, signatures }) =>
    signatures.flatMap(({ key, time }) => (time === undefined ? [] : [{ size, time, witness: key.name }])),
  );
  return {
    origin: head?.origin,
    size: head?.size ?? 0,
    isProven: findings.isEmpty,
    witnessed: witnessed.sort((left, right) => left.time - right.time),
    records,
    deleted,
    findings: findings.list,
    hasMoreFindings: findings.hasMore,
  };
}

function twoHistories({ origin, size }: VerifiedCheckpoint): string {
  return `${origin} has signed two different trees of ${size} entries: it shows different records to different readers.`;
}

function named({ kind, id }: Pick<LogRecord, 'kind' | 'id'>): string {
  return `${kind} ${shown(id)}`;
}

function entriesText(first: number, last: number): string {
  return first === last ? `entry ${first} is` : `entries ${first} to ${last} are`;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function messageOf(error: unknown): string {
  if (LogError.is(error)) return error.message;
  throw error;
}
