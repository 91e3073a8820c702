import type { Actlog } from '@actlog/client';
import { tenantSecret } from '../delivery/tenant-secret.ts';
import { journalFolder } from '../journal/open-journal.ts';
import { environmentVariable } from '../lib/environment-variable.ts';

/**
 * Creates and returns the spool folder that recorders with the same key and address use.
 *
 * @throws UntrustedFileError when another user can change it
 * @throws the system's error when it cannot be created
 */
export function tenantSpoolFolder(client: Actlog): string {
  return journalFolder(undefined, tenantSecret(client, environmentVariable('ACTLOG_TENANT')));
}
