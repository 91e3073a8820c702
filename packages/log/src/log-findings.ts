import type { LogRecord } from './leaf.ts';
import { LogError } from './log-error.ts';

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
  | 'receipt-invalid'
  /** A receipt is for another checkpoint than the evidence has. */
  | 'checkpoint-changed'
  /** Evidence does not begin or end where its period does. */
  | 'period-incomplete';

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

/** Problems found so far, up to a maximum. */
export class Findings {
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

  /** Adds an error about tiles; any other error is thrown. */
  addTileError(error: unknown, entries?: readonly [first: number, last: number]): void {
    if (!LogError.is(error)) throw error;
    const code = error.code === 'missing' ? 'tile-missing' : 'tile-changed';
    const isKnown = this.list.some((known) => known.code === code && known.message === error.message);
    if (!isKnown) this.add(code, error.message, entries ? { entries } : {});
  }
}

/** Returns the message of an error about a log; any other error is thrown. */
export function messageOf(error: unknown): string {
  if (LogError.is(error)) return error.message;
  throw error;
}
