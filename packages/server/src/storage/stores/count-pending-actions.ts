import type { Database } from '../transaction.ts';

/** Returns the number of a tenant's actions that wait for an approver, up to `limit`. */
export async function countPendingActions(
  db: Database,
  tenantId: number,
  nowMs: number,
  limit: number,
): Promise<number> {
  const waiting = db
    .selectFrom('pending_actions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .limit(limit);
  const { count } = await db
    .selectFrom(waiting.as('waiting'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
