import type { JournalFiles } from './journal-files.ts';

/** Options of a journal. */
export interface JournalOptions {
  /** Spool folder, shared by many processes. */
  readonly root: string;
  readonly files: JournalFiles;
  /** Maximum size of all segments, in bytes. */
  readonly maxBytes: number;
  /** Size at which a new segment is started, in bytes. */
  readonly segmentBytes: number;
  /** Flushes every event to disk before `append` returns. */
  readonly isSynced: boolean;
  /** Called with the number of records with a wrong checksum. */
  readonly onUnreadable: (count: number) => void;
  /** Called with the number of events left by dead processes; negative for events that another process took over. */
  readonly onAdopted: (count: number) => void;
  /** Called once for each file of a dead process that cannot be taken over. */
  readonly onNotTaken: (error: Error) => void;
  /**
   * Called when the spool folder was moved or removed by another program, with the number of events in it that are in no
   * memory, and that this process does not deliver.
   */
  readonly onMoved: (count: number) => void;
  /** Called when the journal cannot be written or read. */
  readonly onFailure: (error: Error) => void;
}
