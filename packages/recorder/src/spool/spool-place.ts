import { join, resolve } from 'node:path';
import type { Actlog } from '@actlog/client';
import { tenantSecret } from '../delivery/tenant-secret.ts';
import { tenantFolderName, userFolders } from '../journal/spool-location.ts';
import { environmentVariable } from '../lib/environment-variable.ts';

/** Options of {@link spoolPlaces}, with the meaning and the defaults that they have for a recorder. */
export interface SpoolPlaceOptions {
  /** Client with the address and the key of the recorders; undefined if these are unknown. */
  readonly client?: Actlog | undefined;
  /** Default: `ACTLOG_SPOOL_DIR`, else the user's state folder, else the folder for temporary files. */
  readonly spoolDir?: string | undefined;
  /** Default: `ACTLOG_TENANT`. */
  readonly tenant?: string | undefined;
}

/** Folders in which the recorders of a user keep events. They may not exist yet. */
export interface SpoolPlace {
  /** Folder of this user, with one folder for each deployment and tenant. */
  readonly userFolder: string;
  /** Folder of the client's deployment and tenant; undefined without a client. */
  readonly tenantFolder: string | undefined;
}

/**
 * Returns the places of the spool in order of preference, without creating a folder. A recorder uses the first that it
 * can use; there is one if `spoolDir` is set.
 */
export function spoolPlaces({ client, spoolDir, tenant }: SpoolPlaceOptions = {}): SpoolPlace[] {
  const configured = spoolDir ?? environmentVariable('ACTLOG_SPOOL_DIR');
  const name =
    client && tenantFolderName(tenantSecret(client, tenant || environmentVariable('ACTLOG_TENANT')));
  return userFolders(configured === undefined ? undefined : resolve(configured)).map((userFolder) => ({
    userFolder,
    tenantFolder: name && join(userFolder, name),
  }));
}
