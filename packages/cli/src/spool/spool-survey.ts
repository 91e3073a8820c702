import {
  listTenantFolders,
  type ProcessJournal,
  readProcessJournals,
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
