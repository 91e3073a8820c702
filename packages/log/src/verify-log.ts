import type { VerifiedCheckpoint } from './checkpoint.ts';
import {
  compareRecords,
  type RecordCounts,
  type RecordToVerify,
  verifyByReceipt,
} from './compare-records.ts';
import { LogError, shown } from './log-error.ts';
import { Findings, type LogFinding, messageOf } from './log-findings.ts';
import type { LogSource } from './log-source.ts';
import { equalBytes, verifyConsistency } from './merkle.ts';
import type { TrustPolicy } from './policy.ts';
import { openTrustedCheckpoint, ReceiptVerifier } from './receipt.ts';
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

/** Returns the report of what was found. */
export function reportOf(
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
