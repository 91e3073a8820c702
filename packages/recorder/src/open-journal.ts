import { resolve } from 'node:path';
import type { Counters } from './counters.ts';
import { environmentVariable } from './environment-variable.ts';
import { Journal } from './journal/journal.ts';
import { realFiles } from './journal/journal-files.ts';
import type { RecorderOptions } from './recorder-options.ts';
import type { Reporter } from './reporter.ts';
import { defaultSpoolFolder } from './spool-location.ts';

const mebibyte = 1024 * 1024;

/** A journal and the folder that it shares with other processes. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly folder: string;
}

/** Opens the journal; undefined, and said once, where there is no disk to write to. */
export function openJournal(
  options: RecorderOptions & { readonly maxSpoolBytes: number },
  tenantSecret: string,
  counters: Counters,
  reporter: Reporter,
): OpenedJournal | undefined {
  if (options.spool === false) return undefined;
  try {
    // A process may change its working folder later on.
    const folder = resolve(
      options.spoolDir ?? environmentVariable('ACTLOG_SPOOL_DIR') ?? defaultSpoolFolder(tenantSecret),
    );
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
      onNotTaken: (error) => reporter.failed('adopt', error),
      onFailure: (error) => reporter.failed('journal', notWritable(error)),
    });
    return { journal, folder };
  } catch (error) {
    reporter.failed('spool', notWritable(error as Error));
    return undefined;
  }
}

/** Whether events can be put on the disk itself; said once where they cannot. */
function canSync(reporter: Reporter): boolean {
  if (!process.permission) return true;
  const problem =
    "fsync: Node's permission model has no such operation. Events stand in the journal, and a power cut may take the youngest. Run without --permission, or leave fsync out.";
  reporter.failed('fsync', new Error(problem));
  return false;
}

function notWritable(cause: Error): Error {
  return new Error(
    `The journal failed (${(cause as NodeJS.ErrnoException).code ?? cause.message}). Events that it cannot take stand in memory only and are lost if the process ends before they are delivered. Pass a writable spoolDir, or spool: false.`,
    { cause },
  );
}
