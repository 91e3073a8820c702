import type { DropReason } from './drop-reason.ts';

/** What a recorder did since it was made, and what is still before it. */
export interface RecorderStats {
  /** Events that this recorder accepted. */
  readonly recorded: number;
  /** Events of processes that ended before they could deliver them, taken over from the spool folder. */
  readonly adopted: number;
  /** Events that the service has. */
  readonly delivered: number;
  /** Events that are not delivered, dropped or dead-lettered yet. */
  readonly pending: number;
  /** Of the pending ones, those that stand on disk and survive the end of the process. */
  readonly spooled: number;
  /** Events that are lost: the sum over `droppedByReason`. */
  readonly dropped: number;
  readonly droppedByReason: Readonly<Record<DropReason, number>>;
  /** Events that the service refused for good, now in the dead-letter file. */
  readonly deadLettered: number;
  /** Sendings that failed and were, or will be, repeated. */
  readonly retried: number;
  /** Journal records whose checksum did not match: the torn last record of a killed process, or a damaged disk. */
  readonly unreadable: number;
  /** Bytes of the journal. */
  readonly spoolBytes: number;
  /** Age in milliseconds of the oldest event that waits in memory; 0 when none does. */
  readonly lagMs: number;
  /** Calls that the guard let run, refused, and could not check. */
  readonly guard: { readonly allowed: number; readonly denied: number; readonly unavailable: number };
}

/** The counting half of {@link RecorderStats}. */
export class Counters {
  recorded = 0;
  adopted = 0;
  delivered = 0;
  deadLettered = 0;
  retried = 0;
  unreadable = 0;
  readonly droppedByReason: Record<DropReason, number> = { full: 0, closed: 0, refused: 0 };
  readonly guard = { allowed: 0, denied: 0, unavailable: 0 };

  /** Events lost, whatever the reason. */
  get dropped(): number {
    const { full, closed, refused } = this.droppedByReason;
    return full + closed + refused;
  }
}
