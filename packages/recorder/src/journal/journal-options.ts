import type { JournalFiles } from './journal-files.ts';

/** Settings of a journal. */
export interface JournalOptions {
  /** The spool folder, shared by many processes. */
  readonly root: string;
  readonly files: JournalFiles;
  /** Most bytes of all segments. */
  readonly maxBytes: number;
  /** Bytes after which a new segment is begun. */
  readonly segmentBytes: number;
  /** Whether every event is on the disk itself before `append` returns. */
  readonly isSynced: boolean;
  /** Told of records whose checksum does not match. */
  readonly onUnreadable: (count: number) => void;
  /** Told how many events dead processes left, or, below 0, how many another process took over. */
  readonly onAdopted: (count: number) => void;
  /** Told what of dead processes cannot be taken over, once for each. */
  readonly onNotTaken: (error: Error) => void;
  /** Told why the journal cannot be written or read. */
  readonly onFailure: (error: Error) => void;
}
