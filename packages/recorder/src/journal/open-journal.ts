import { resolve } from 'node:path';
import { environmentVariable } from '../lib/option-checks.ts';
import type { RecorderOptions } from '../recorder-options.ts';
import type { Counters, Reporter } from '../reporting/reporter.ts';
import { Journal } from './journal.ts';
import { realFiles } from './segment.ts';
import { defaultSpoolFolder, namedSpoolFolder } from './spool-location.ts';

const mebibyte = 1024 * 1024;

/** A journal and the folder that it shares with other processes. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly folder: string;
}

/**
 * Creates and returns the folder of a tenant's journals.
 *
 * @param spoolDir - default: `ACTLOG_SPOOL_DIR`, otherwise the user's state folder
 * @throws UntrustedFileError when another user can change it
 * @throws the system's error when it cannot be created
 */
export function journalFolder(spoolDir: string | undefined, tenantSecret: string): string {
  const named = spoolDir ?? environmentVariable('ACTLOG_SPOOL_DIR');
  // The process may change its working directory later.
  return named === undefined
    ? defaultSpoolFolder(tenantSecret)
    : namedSpoolFolder(resolve(named), tenantSecret);
}

/** Opens the journal. Without a writable disk, reports that once and returns undefined. */
export function openJournal(
  options: RecorderOptions & { readonly maxSpoolBytes: number },
  tenantSecret: string,
  counters: Counters,
  reporter: Reporter,
): OpenedJournal | undefined {
  if (options.spool === false) return undefined;
  try {
    const folder = journalFolder(options.spoolDir, tenantSecret);
    const journal = new Journal({
      root: folder,
      files: realFiles,
      maxBytes: options.maxSpoolBytes,
      segmentBytes: Math.min(mebibyte, options.maxSpoolBytes / 4),
      isSynced: options.fsync === true && canSync(reporter),
      onUnreadable: (count) => {
        counters.unreadable += count;
      },
      onAdopted: (count) => {
        counters.adopted += count;
      },
      onMoved: (count) => reporter.failed('spool-moved', moved(folder, count)),
      onNotTaken: (error) => reporter.failed('adopt', error),
      onFailure: (error) => reporter.failed('journal', notWritable(error)),
    });
    return { journal, folder };
  } catch (error) {
    reporter.failed('spool', notWritable(error as Error));
    return undefined;
  }
}

/** Returns `true` if events can be flushed to disk; otherwise reports that once. */
function canSync(reporter: Reporter): boolean {
  if (!process.permission) return true;
  const problem =
    "fsync is not available in Node's permission model. Events are written to the journal, but a power failure may lose the newest. Run without --permission, or omit fsync.";
  reporter.failed('fsync', new Error(problem));
  return false;
}

function moved(folder: string, count: number): Error {
  return new Error(
    `The spool folder ${folder} was moved or removed by another program while this process used it. ${count} events in it are not delivered: move it back, and the next process delivers them. Make the folder above it writable for this user only.`,
  );
}

function notWritable(cause: Error): Error {
  return new Error(
    `The journal failed (${(cause as NodeJS.ErrnoException).code ?? cause.message.replace(/\.$/, '')}). Events are kept only in memory and are lost if the process ends before they are delivered. Pass a writable spoolDir, or spool: false.`,
    { cause },
  );
}
