import {
  Bits,
  deletedEntries,
  entriesText,
  type RecordToVerify,
  verifyByReceipt,
} from './compare-records.ts';
import { type LogRecord, recordTime } from './leaf.ts';
import { LogError } from './log-error.ts';
import { Findings, messageOf } from './log-findings.ts';
import type { TrustPolicy } from './policy.ts';
import { openTrustedCheckpoint, parseProof, ReceiptVerifier } from './receipt.ts';
import { type LogReport, reportOf } from './verify-log.ts';

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
  /** Number of entries of the period that are neither in the evidence nor deleted: those of others, if it is filtered. */
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
        `The receipt of the ${record.kind} ${record.id} is for another checkpoint than that of the evidence.`,
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
