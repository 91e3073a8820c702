import type { Storage } from '../storage/storage.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';

/** Returns the id of the tenant with a name. @throws Error when there is no such tenant. */
export function findTenantId(storage: Storage, name: string): Promise<number> {
  return storage.readAcross('administer', (db) => tenantIdOf(db, name));
}
