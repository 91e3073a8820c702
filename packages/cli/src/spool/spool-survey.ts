import {
  listTenantFolders,
  type ProcessJournal,
  readProcessJournals,
  readWaitingEvents,
  UntrustedFileError,
} from '@actlog/recorder/spool';

/** Journals in the folder of one deployment and tenant. */
export interface TenantSpool {
  readonly folder: string;
  /** `true` for the address and the key, or the tenant, that are configured. */
  readonly isCurrent: boolean;
  readonly journals: readonly ProcessJournal[];
}

/** State of the spool of this user. */
export interface SpoolSurvey {
  readonly userFolder: string;
  readonly tenants: readonly TenantSpool[];
  /** Reasons why a tenant's folder is not used. */
  readonly problems: readonly UntrustedFileError[];
}

/**
 * Reads the spool of this user.
 *
 * @param tenantFolder - folder of the configured address and key; undefined if these are unknown
 * @throws UntrustedFileError when other users can change the folder of the user
 * @throws the system's error when a folder cannot be read
 */
export function surveySpool(userFolder: string, tenantFolder: string | undefined): SpoolSurvey {
  const problems: UntrustedFileError[] = [];
  const tenants = listTenantFolders(userFolder).flatMap((folder) => {
    try {
      const journals = readProcessJournals(folder);
      return [{ folder, isCurrent: folder === tenantFolder, journals }];
    } catch (error) {
      if (!(error instanceof UntrustedFileError)) throw error;
      problems.push(error);
      return [];
    }
  });
  return { userFolder, tenants, problems };
}

/** Returns a number with its noun, such as `1 event` or `12 events`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with the largest fitting binary unit, such as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

/** Returns the time of the oldest event that waits in these journals, ISO 8601; undefined if none waits. */
export function oldestWaiting(journals: readonly ProcessJournal[]): string | undefined {
  const times = journals.flatMap((journal) => {
    const { value } = readWaitingEvents(journal).next();
    return value ? [value.sourceTimestamp] : [];
  });
  return times.sort()[0];
}
