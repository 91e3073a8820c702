import type { AuditAction, AuditTargetKind } from '@actlog/protocol';
import type { Insertable, Selectable } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { type DeletionReason, logDeletion, logLater } from '../log/tenant-log.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { AuditTable } from '../tables.ts';
import { type Database, oneOf } from '../transaction.ts';
import { addUsage } from './quota-store.ts';

/** A stored entry of the audit log. */
export type AuditRow = Selectable<AuditTable>;

/** Returns the kind of thing that an action changes. */
function targetKindOf(action: AuditAction): AuditTargetKind {
  return action.slice(0, action.indexOf('.')) as AuditTargetKind;
}

/** Adds an entry, and counts it. */
export async function insertAuditEntry(
  db: Database,
  row: Omit<Insertable<AuditTable>, 'target_kind'>,
): Promise<void> {
  const target_kind = targetKindOf(row.action);
  await db
    .insertInto('audit_log')
    .values({ ...row, target_kind })
    .execute();
  await logLater(db, row.tenant_id, 'audit', [row.id]);
  await addUsage(db, row.tenant_id, { auditEntries: 1 }, row.at_ms);
}

/** Filters of a list of entries; an entry must pass all of them. */
export interface AuditFilters {
  /** Id of the key. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly targetKind?: AuditTargetKind | undefined;
  /** Id of the target. */
  readonly target?: string | undefined;
  /** Earliest time of a change, in Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Time before which a change was made, in Unix milliseconds. */
  readonly untilMs?: number | undefined;
}

/** Returns a slice of a tenant's entries, newest first. It has fewer than `limit` rows when they are large. */
export function listAuditEntries(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly filters: AuditFilters;
    /** Id of the entry after which the slice begins. */
    readonly afterId?: string | undefined;
    readonly limit: number;
  },
): Promise<Slice<AuditRow>> {
  const { afterId, filters } = options;
  const { actor, action, targetKind, target, sinceMs, untilMs } = filters;
  let query = db.selectFrom('audit_log').selectAll().where('tenant_id', '=', options.tenantId);
  if (afterId !== undefined) query = query.where('id', '<', afterId);
  // Ids begin with the time of the change, so every index finds the range.
  if (sinceMs !== undefined) query = query.where('id', '>=', lowestIdentifierOf('aud', sinceMs));
  if (untilMs !== undefined) query = query.where('id', '<', lowestIdentifierOf('aud', untilMs));
  if (actor !== undefined) query = query.where('actor_id', '=', actor);
  if (target !== undefined) query = query.where('target_id', '=', target);
  if (targetKind !== undefined) query = query.where('target_kind', '=', targetKind);
  if (action !== undefined) {
    // The kind has an index.
    query = query.where('target_kind', '=', targetKindOf(action)).where('action', '=', action);
  }
  return querySliceWithin(options.limit, ['changes'], query.orderBy('id', 'desc'));
}

/** Returns the oldest of a tenant's entries that were made before a time, after one of them. */
export function auditEntriesBefore(
  db: Database,
  tenantId: number,
  {
    afterId,
    beforeMs,
    limit,
  }: { readonly afterId: string; readonly beforeMs: number; readonly limit: number },
): Promise<Pick<AuditRow, 'id' | 'at_ms'>[]> {
  return db
    .selectFrom('audit_log')
    .select(['id', 'at_ms'])
    .where('tenant_id', '=', tenantId)
    .where('id', '>', afterId)
    .where('id', '<', lowestIdentifierOf('aud', beforeMs))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Deletes entries. The log must be locked. */
export async function dropAuditEntries(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  nowMs: number,
  reason: DeletionReason,
): Promise<void> {
  await db
    .deleteFrom('audit_log')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .execute();
  await logDeletion(db, tenantId, 'audit', ids, reason);
  await addUsage(db, tenantId, { auditEntries: -ids.length }, nowMs);
}
