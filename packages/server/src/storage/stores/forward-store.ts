import type { RiskLevel } from '@actlog/protocol';
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
  /** `true` if no other process has the lease, and the delay after a failure is over. */
  readonly isDue: boolean;
}

/** Logs to look at: all, or those that grew since a time and some others. */
export interface ForwardedLogs {
  /** Time since which a log has grown, in Unix milliseconds. */
  readonly grownSinceMs: number;
  readonly tenantIds: readonly number[];
}

/** Returns the state of a forwarder in logs. Indexes find those that grew. */
export async function forwardStates(
  db: Database,
  name: string,
  nowMs: number,
  logs?: ForwardedLogs,
): Promise<ForwardState[]> {
  const ids = logs && (await grownLogs(db, logs));
  if (ids?.length === 0) return [];
  const rows = await db
    .selectFrom('tenants')
    .$if(ids !== undefined, (query) => query.where('tenants.id', 'in', ids as number[]))
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
    return { tenantId: row.id, tenant: row.name, lag, isDue: isFree };
  });
}

async function grownLogs(db: Database, { grownSinceMs, tenantIds }: ForwardedLogs): Promise<number[]> {
  const grown = await db
    .selectFrom('log_heads')
    .select('tenant_id')
    .where('updated_ms', '>=', grownSinceMs)
    .execute();
  return [...new Set([...tenantIds, ...grown.map(({ tenant_id: id }) => id)])];
}

/** Returns the positions of all forwarders in the log of a tenant. */
export function forwardPositions(db: Database, tenantId: number): Promise<ForwardPosition[]> {
  return db.selectFrom('forward_positions').selectAll().where('tenant_id', '=', tenantId).execute();
}

/** Returns the last entry of a tenant's log that a forwarder's destination has acknowledged; -1 for none. */
export async function forwardPosition(db: Database, tenantId: number, name: string): Promise<number> {
  const state = await db
    .selectFrom('forward_positions')
    .select('position')
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .executeTakeFirst();
  return Number(state?.position ?? -1);
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
      sending: null,
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

/** A session whose risk rose above the level that a forwarder has sent. */
export interface RaisedSession {
  readonly sessionId: string;
  readonly agentId: string;
  readonly score: number;
  readonly level: RiskLevel;
  /** Level that was sent; `null` for none. */
  readonly sentLevel: RiskLevel | null;
}

/** Levels that are sent, from the lowest. */
const sentLevels = ['medium', 'high', 'critical'] as const satisfies readonly RiskLevel[];

/** Returns some sessions whose level is above the one that a forwarder has sent. */
export async function raisedSessions(
  db: Database,
  tenantId: number,
  name: string,
  limit: number,
): Promise<RaisedSession[]> {
  const rank = (column: string) => {
    const cases = sentLevels.map((level, at) => sql`when ${level} then ${sql.lit(at + 1)}`);
    return sql<number>`case ${sql.ref(column)} ${sql.join(cases, sql` `)} else 0 end`;
  };
  const rows = await db
    .selectFrom('sessions')
    .leftJoin('forwarded_risk', (join) =>
      join
        .onRef('forwarded_risk.tenant_id', '=', 'sessions.tenant_id')
        .onRef('forwarded_risk.session_id', '=', 'sessions.id')
        .on('forwarded_risk.name', '=', name),
    )
    .where('sessions.tenant_id', '=', tenantId)
    .where('sessions.risk_level', '<>', 'low')
    .where(sql<boolean>`${rank('forwarded_risk.level')} < ${rank('sessions.risk_level')}`)
    .select([
      'sessions.id',
      'sessions.agent_id',
      'sessions.risk_score',
      'sessions.risk_level',
      'forwarded_risk.level as sent_level',
    ])
    .orderBy('sessions.id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    sessionId: row.id,
    agentId: row.agent_id,
    score: row.risk_score ?? 0,
    level: row.risk_level ?? 'low',
    sentLevel: row.sent_level,
  }));
}

/** Records that levels of sessions were sent. Sessions that were deleted meanwhile are left out. */
export async function recordSentLevels(
  db: Database,
  tenantId: number,
  name: string,
  sessions: readonly Pick<RaisedSession, 'sessionId' | 'level'>[],
): Promise<void> {
  for (const { sessionId, level } of sessions) {
    const existing = db
      .selectFrom('sessions')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', sessionId)
      .select(['tenant_id', sql<string>`${name}`.as('name'), 'id', sql<RiskLevel>`${level}`.as('level')]);
    await db
      .insertInto('forwarded_risk')
      .columns(['tenant_id', 'name', 'session_id', 'level'])
      .expression(existing)
      .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id', 'name']).doUpdateSet({ level }))
      .execute();
  }
}
