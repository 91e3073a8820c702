import { isPostgres } from './postgres/postgres-error.ts';
import { enterScope } from './postgres/transactions.ts';
import type { Storage } from './storage.ts';
import type { Write } from './transaction.ts';

/**
 * Runs `work` for groups of several tenants in one durable transaction, with the tenants in a fixed order so that two
 * transactions cannot deadlock. It may run more than once, as in `Storage.write`.
 */
export async function writeForTenants<Group extends { readonly tenantId: number }>(
  storage: Pick<Storage, 'write'>,
  groups: readonly Group[],
  work: (write: Write, group: Group) => Promise<void>,
): Promise<void> {
  const sorted = [...groups].sort((left, right) => left.tenantId - right.tenantId);
  const [first] = sorted;
  if (!first) return;
  await storage.write(first.tenantId, async (write) => {
    for (const group of sorted) {
      if (group !== first && isPostgres(write.db)) await enterScope(write.db, group.tenantId);
      await work(write, group);
    }
  });
}
