import type { VerifiedCheckpoint } from './checkpoint.ts';
import {
  Bits,
  compareRecords,
  deletedEntries,
  entriesText,
  type RecordCounts,
  type RecordToVerify,
  verifyByReceipt,
} from './compare-records.ts';
import { type LogRecord, recordTime } from './leaf.ts';
import { LogError, shown } from './log-error.ts';
import { Findings, type LogFinding, messageOf } from './log-findings.ts';
import type { LogSource } from './log-source.ts';
import { equalBytes, verifyConsistency } from './merkle.ts';
import type { TrustPolicy } from './policy.ts';
import { openTrustedCheckpoint, parseProof, ReceiptVerifier } from './receipt.ts';
import { consistencyProof, type TileSource } from './tiles.ts';
import { firstDifference, verifyTiles } from './verify-tiles.ts';

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
  const { tiles } = source;
  const verified = await verifyTiles(tiles, checkpoint, findings);
  for (const state of earlier) {
    const continued = await verifyEarlier(tiles, checkpoint, state, policy, findings);
    if (continued) proven.push(continued);
  }
  const counts = records
    ? await compareRecords({ tiles, verified, head: checkpoint, policy, records, isComplete }, findings)
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
    const first = await firstChange(tiles, head.size, state.tiles, old.size, findings);
    if (first !== undefined) {
      const about = { entries: [first, head.size - 1] as const };
      findings.add('rewritten', `The first entry that differs from the earlier state is ${first}.`, about);
    }
    return undefined;
  }
  try {
    const proof = old.size === head.size ? [] : await consistencyProof(tiles, old.size, head.size);
    verifyConsistency({ oldSize: old.size, oldRoot: old.root, size: head.size, root: head.root, proof });
    return old;
  } catch (error) {
    if (!LogError.is(error)) throw error;
    if (error.code === 'unproven') {
      const first = await firstChange(tiles, head.size, state.tiles, old.size, findings);
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
      findings.addTileError(error);
    }
    return undefined;
  }
}

/** Returns the first entry that differs from an earlier copy, if there is one with tiles. */
async function firstChange(
  tiles: TileSource,
  size: number,
  oldTiles: TileSource | undefined,
  oldSize: number,
  findings: Findings,
): Promise<number | undefined> {
  if (!oldTiles) return undefined;
  try {
    return await firstDifference({ tiles, size }, { tiles: oldTiles, size: oldSize });
  } catch (error) {
    findings.addTileError(error);
    return undefined;
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

/** Period that evidence is about, and the entries of the log in it. */
export interface EvidencePeriod {
  /** Unix milliseconds; the end is exclusive. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** First and last entry; `last` is before `first` if there is none. */
  readonly first: number;
  readonly last: number;
  /** `true` if only records of an agent or a session are in the evidence, so that the others are missing on purpose. */
  readonly isFiltered: boolean;
}

/** A record of evidence: within the period, next to it, or of another time and needed to understand it. */
export interface EvidenceRecord extends RecordToVerify {
  readonly part: 'period' | 'before' | 'after' | 'support';
}

/** Evidence of a period, to verify offline. */
export interface Evidence {
  /** Signed checkpoint that all receipts are for. */
  readonly checkpoint: string;
  readonly period: EvidencePeriod;
  readonly records: AsyncIterable<EvidenceRecord>;
}

/** Result of {@link verifyEvidence}. */
export interface EvidenceReport extends LogReport {
  /** `true` if no entry of the period is missing without a logged deletion. */
  readonly isComplete: boolean;
  /** Number of entries of the period that are neither in the evidence nor deleted, as with a filter. */
  readonly leftOut: number;
  /** Times of the records next to the period, in Unix milliseconds; undefined where the log begins or ends. */
  readonly beforeMs: number | undefined;
  readonly afterMs: number | undefined;
}

/**
 * Verifies evidence of a period offline: that each record is in the log, unchanged, that all receipts are for one
 * checkpoint, and that no entry of the period is missing. The log has no times. So the evidence contains the records next
 * to the period, whose times show that the period begins and ends there; every entry between them must be in the evidence,
 * or be named by a deletion in the log.
 */
export async function verifyEvidence(
  { checkpoint: note, period, records }: Evidence,
  { policy, maxFindings }: { readonly policy: TrustPolicy; readonly maxFindings?: number },
): Promise<EvidenceReport> {
  const findings = new Findings(maxFindings);
  const nothing = { isComplete: false, leftOut: 0, beforeMs: undefined, afterMs: undefined };
  let checkpoint: ReturnType<typeof openTrustedCheckpoint>;
  try {
    checkpoint = openTrustedCheckpoint(note, policy);
  } catch (error) {
    findings.add('checkpoint-untrusted', messageOf(error));
    return { ...reportOf(undefined, findings, []), ...nothing };
  }
  const { first, last } = period;
  if (first < 0 || last < first - 1 || last >= checkpoint.size) {
    findings.add(
      'period-incomplete',
      `The evidence names the entries ${first} to ${last}, which the log of ${checkpoint.size} entries does not have.`,
    );
    return { ...reportOf(checkpoint, findings, [checkpoint]), ...nothing };
  }
  const receipts = new ReceiptVerifier(policy);
  const seen = new Bits(last - first + 1);
  const deleted = new Bits(last - first + 1);
  const next: Partial<Record<'before' | 'after', { index: number; timeMs: number | undefined }>> = {};
  let verified = 0;
  for await (const record of records) {
    if (!isOfCheckpoint(record, note)) {
      findings.add(
        'checkpoint-changed',
        `The receipt of the ${record.kind} ${record.id} is for another checkpoint than the evidence.`,
        { record: { kind: record.kind, id: record.id } },
      );
    }
    if (!verifyByReceipt(receipts, record, findings)) continue;
    verified += 1;
    const { index } = parseProof(record.proof as string);
    if (index >= first && index <= last) seen.add(index - first);
    if (record.kind === 'deletion') {
      for (const [from, to] of deletedEntries(record.row)) deleted.addRange(from - first, to - first);
    }
    if (record.part === 'before' || record.part === 'after') {
      next[record.part] = { index, timeMs: recordTime(record as LogRecord) };
    }
  }
  const isBounded = checkBounds(period, checkpoint.size, next, findings);
  for (const [from, to] of seen.and(deleted)) {
    const range = [first + from, first + to] as const;
    findings.add(
      'record-undeleted',
      `${entriesText(...range)} deleted according to the log, but the records are in the evidence.`,
      { entries: range },
    );
  }
  let leftOut = 0;
  for (const [from, to] of seen.missing(deleted)) {
    leftOut += to - from + 1;
    if (period.isFiltered) continue;
    const range = [first + from, first + to] as const;
    findings.add(
      'record-missing',
      `${entriesText(...range)} of the period, but ${from === to ? 'its record is' : 'their records are'} not in the evidence, and no deletion was logged.`,
      { entries: range },
    );
  }
  return {
    ...reportOf(checkpoint, findings, [checkpoint], { records: verified, deleted: deleted.count }),
    isComplete: isBounded && leftOut === 0,
    leftOut,
    beforeMs: next.before?.timeMs,
    afterMs: next.after?.timeMs,
  };
}

function isOfCheckpoint({ proof }: RecordToVerify, note: string): boolean {
  try {
    return proof === undefined || parseProof(proof).checkpoint === note;
  } catch (error) {
    // The verification of the receipt says what is wrong.
    if (LogError.is(error)) return true;
    throw error;
  }
}

/** Checks that the period begins and ends where the evidence says. */
function checkBounds(
  { sinceMs, untilMs, first, last }: EvidencePeriod,
  size: number,
  { before, after }: Partial<Record<'before' | 'after', { index: number; timeMs: number | undefined }>>,
  findings: Findings,
): boolean {
  const problems: string[] = [];
  if (before ? before.index !== first - 1 : first !== 0) {
    problems.push(`It begins with entry ${first}, but the record of the entry before is not in it.`);
  } else if (before && !(before.timeMs !== undefined && before.timeMs < sinceMs)) {
    problems.push(`Entry ${before.index}, before its first one, is within the period.`);
  }
  if (after ? after.index !== last + 1 : last !== size - 1) {
    problems.push(`It ends with entry ${last}, but the record of the entry after is not in it.`);
  } else if (after && !(after.timeMs !== undefined && after.timeMs >= untilMs)) {
    problems.push(`Entry ${after.index}, after its last one, is within the period.`);
  }
  for (const message of problems) findings.add('period-incomplete', message);
  return problems.length === 0;
}
