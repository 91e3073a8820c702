import type { DropReason } from './drop-reason.ts';

/** Counts of a recorder since it was created, and its current backlog. */
export interface RecorderStats {
  /** Events that this recorder accepted. */
  readonly recorded: number;
  /** Events taken over from the spool folder, of processes that ended before they could deliver them. */
  readonly adopted: number;
  /** Events acknowledged by the service. */
  readonly delivered: number;
  /** Events that are not yet delivered, dropped or dead-lettered. */
  readonly pending: number;
  /** Pending events that are on disk and survive the end of the process. */
  readonly spooled: number;
  /** Lost events: the sum of `droppedByReason`. */
  readonly dropped: number;
  readonly droppedByReason: Readonly<Record<DropReason, number>>;
  /** Events that the service rejected permanently, now in the dead-letter file. */
  readonly deadLettered: number;
  /** Events about argument origins that were left out because the service does not take them. */
  readonly omitted: number;
  /** Failed attempts that were or will be repeated. */
  readonly retried: number;
  /** Journal records with a wrong checksum: the torn last record of a killed process, or a damaged disk. */
  readonly unreadable: number;
  /** Size of the journal in bytes. */
  readonly spoolBytes: number;
  /** Age of the oldest event that waits in memory, in milliseconds; 0 if there is none. */
  readonly lagMs: number;
  /** Calls that the guard allowed, denied and could not check. */
  readonly guard: { readonly allowed: number; readonly denied: number; readonly unavailable: number };
}

/** Counters behind {@link RecorderStats}. */
export class Counters {
  recorded = 0;
  adopted = 0;
  delivered = 0;
  deadLettered = 0;
  omitted = 0;
  retried = 0;
  unreadable = 0;
  readonly droppedByReason: Record<DropReason, number> = { full: 0, closed: 0, refused: 0 };
  readonly guard = { allowed: 0, denied: 0, unavailable: 0 };

  /** Total of lost events, for any reason. */
  get dropped(): number {
    const { full, closed, refused } = this.droppedByReason;
    return full + closed + refused;
  }
}
