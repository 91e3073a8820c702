import { type Selectable, sql } from 'kysely';
import type { ForwardPositionTable } from '../tables.ts';
import type { Database } from '../transaction.ts';

/** Position of a forwarder in the log of a tenant. */
export type ForwardPosition = Selectable<ForwardPositionTable>;

/** A log, and what a forwarder has to do in it. */
export interface ForwardState {
  readonly tenantId: number;
  readonly tenant: string;
  /** Number of entries that are not forwarded. */
  readonly lag: number;
  /** `true` if there are entries to forward, no other process has the lease, and the delay after a failure is over. */
  readonly isDue: boolean;
}

/** Returns the state of a forwarder in the logs of all tenants. */
export async function forwardStates(db: Database, name: string, nowMs: number): Promise<ForwardState[]> {
  const rows = await db
    .selectFrom('tenants')
    .innerJoin('log_heads', 'log_heads.tenant_id', 'tenants.id')
    .leftJoin('forward_positions', (join) =>
      join.onRef('forward_positions.tenant_id', '=', 'tenants.id').on('forward_positions.name', '=', name),
    )
    .where('tenants.deleted_ms', 'is', null)
    .select([
      'tenants.id',
      'tenants.name',
      'log_heads.size',
      'forward_positions.position',
      'forward_positions.leased_until_ms',
      'forward_positions.next_attempt_ms',
    ])
    .orderBy('tenants.id')
    .execute();
  return rows.map((row) => {
    const lag = Number(row.size) - 1 - Number(row.position ?? -1);
    const isFree = Number(row.leased_until_ms ?? 0) <= nowMs && Number(row.next_attempt_ms ?? 0) <= nowMs;
    return { tenantId: row.id, tenant: row.name, lag, isDue: lag > 0 && isFree };
  });
}

/** Options for {@link leaseForward}. */
export interface ForwardLease {
  readonly tenantId: number;
  readonly name: string;
  /** Random id. */
  readonly lease: string;
  readonly nowMs: number;
  readonly untilMs: number;
}

/** Leases a position. Returns it; `undefined` if another process has it. */
export async function leaseForward(
  db: Database,
  { tenantId, name, lease, nowMs, untilMs }: ForwardLease,
): Promise<ForwardPosition | undefined> {
  await db
    .insertInto('forward_positions')
    .values({
      tenant_id: tenantId,
      name,
      position: -1,
      leased_until_ms: untilMs,
      lease,
      next_attempt_ms: 0,
      failures: 0,
      last_success_ms: null,
      last_error: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'name'])
        .doUpdateSet({ leased_until_ms: untilMs, lease })
        .where('forward_positions.leased_until_ms', '<=', nowMs)
        .where('forward_positions.next_attempt_ms', '<=', nowMs),
    )
    .execute();
  return db
    .selectFrom('forward_positions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .where('lease', '=', lease)
    .executeTakeFirst();
}

/** Changes a position while the lease is held. Returns `false` if another process has taken it. */
export async function updateForward(
  db: Database,
  { tenantId, name, lease }: Pick<ForwardLease, 'tenantId' | 'name' | 'lease'>,
  changes: Partial<Omit<ForwardPosition, 'tenant_id' | 'name'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('forward_positions')
    .set(changes)
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .where(sql<boolean>`lease = ${lease}`)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
