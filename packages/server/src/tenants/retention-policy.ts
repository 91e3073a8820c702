import type { AuditActor, AuditFieldChange } from '@actlog/protocol';
import {
  changeRetention,
  type RetentionChanges,
  type RetentionPolicy,
  retentionClasses,
  retentionPolicy,
} from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { operator, recordUnlimited, serverItself } from './audit-log.ts';

/**
 * Changes the retention of a tenant as an operator, in one transaction with the entry of the audit log, and so of the log.
 *
 * @throws as {@link changeRetention}
 */
export async function changeRetentionPolicy(
  storage: Storage,
  tenantId: number,
  changes: RetentionChanges,
): Promise<void> {
  await storage.write(tenantId, async ({ db }) => {
    await changeRetention(db, tenantId, changes);
    await recordPolicy(db, tenantId, operator);
  });
}

/** Records the retention in force in the audit log, unless the last entry about it says the same. */
export async function recordRetention(storage: Storage, tenantId: number): Promise<void> {
  await storage.write(tenantId, ({ db }) => recordPolicy(db, tenantId, serverItself));
}

async function recordPolicy(db: Database, tenantId: number, actor: AuditActor): Promise<void> {
  const policy = await retentionPolicy(db, tenantId);
  const tenant = await db
    .selectFrom('tenants')
    .select(['name', 'logged_retention'])
    .where('id', '=', tenantId)
    .where('deleted_ms', 'is', null)
    .executeTakeFirst();
  const json = JSON.stringify(policy);
  if (!tenant || tenant.logged_retention === json) return;
  // The condition lets one of several servers record it.
  const { numUpdatedRows } = await db
    .updateTable('tenants')
    .set({ logged_retention: json })
    .where('id', '=', tenantId)
    .where((where) =>
      where.or([where('logged_retention', 'is', null), where('logged_retention', '<>', json)]),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const before = tenant.logged_retention === null ? undefined : JSON.parse(tenant.logged_retention);
  await recordUnlimited(db, tenantId, actor, {
    action: 'tenant.retention_changed',
    target: { id: tenant.name, name: tenant.name },
    changes: changesBetween(before as RetentionPolicy | undefined, policy),
  });
}

function changesBetween(before: RetentionPolicy | undefined, after: RetentionPolicy): AuditFieldChange[] {
  const fields = (policy: RetentionPolicy | undefined) =>
    new Map<string, number | null | undefined>(
      retentionClasses.flatMap((name) => [
        [`${name}Days`, policy?.days[name]],
        [`${name}FloorDays`, policy?.floors[name]],
      ]),
    );
  const former = fields(before);
  return [...fields(after)].flatMap(([field, value]) => {
    const was = former.get(field);
    return was === value ? [] : [{ field, before: was ?? null, after: value ?? null }];
  });
}
