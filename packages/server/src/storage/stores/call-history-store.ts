import { sql } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { preparedQuery } from '../queries/prepared-query.ts';
import { type OldRows, oldRows } from '../retention/old-rows.ts';
import type { Database } from '../transaction.ts';

const historyOf = preparedQuery((db, tenantId: number, sessionId: string) =>
  db
    .selectFrom('call_histories')
    .select('state')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId),
);

/** Returns the stored history of a session's calls, or `undefined` if there is none. */
export async function findCallHistory(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<string | undefined> {
  return (await historyOf(db, tenantId, sessionId))[0]?.state;
}

/** Stores the history of a session's calls. */
export async function saveCallHistory(
  db: Database,
  row: {
    readonly tenant_id: number;
    readonly session_id: string;
    readonly updated_ms: number;
    readonly state: string;
  },
): Promise<void> {
  await db
    .insertInto('call_histories')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'session_id'])
        .doUpdateSet({ updated_ms: row.updated_ms, state: row.state }),
    )
    .execute();
}

/** Deletes the history of a session, which may have checks without an event. */
export async function dropCallHistory(db: Database, tenantId: number, sessionId: string): Promise<void> {
  await db
    .deleteFrom('call_histories')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute();
}

/** Time of a session's first event or kept decision, in Unix milliseconds, and the days that the tenant keeps sessions. */
export async function sessionBegin(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<{ readonly begunMs: number | undefined; readonly retentionDays: number | null }> {
  const session = await db
    .selectFrom('sessions')
    .select('started_ms')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sessionId)
    .executeTakeFirst();
  const decision = await db
    .selectFrom('policy_decisions')
    .select('decided_ms')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('id', '>=', lowestIdentifierOf('dec', 0))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const tenant = await db
    .selectFrom('tenants')
    .select('retention_days')
    .where('id', '=', tenantId)
    .executeTakeFirst();
  const times = [session?.started_ms, decision?.decided_ms].flatMap((time) =>
    time === undefined ? [] : [Number(time)],
  );
  return {
    begunMs: times.length === 0 ? undefined : Math.min(...times),
    retentionDays: tenant?.retention_days ?? null,
  };
}

/** Returns a tenant's histories of sessions without a check since `beforeMs`. */
export function oldCallHistories(tenantId: number, beforeMs: number): OldRows {
  return oldRows({
    table: 'call_histories',
    key: ['tenant_id', 'session_id'],
    age: 'updated_ms',
    beforeMs,
    where: sql`tenant_id = ${tenantId}`,
  });
}

const toolsOf = preparedQuery((db, tenantId: number, agentId: string) =>
  db
    .selectFrom('agent_tools')
    .select('tools')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId),
);

/** Returns the stored tools of an agent, or `undefined` if there are none. */
export async function findAgentTools(
  db: Database,
  tenantId: number,
  agentId: string,
): Promise<string | undefined> {
  return (await toolsOf(db, tenantId, agentId))[0]?.tools;
}

/** Stores the tools of an agent. */
export async function saveAgentTools(
  db: Database,
  row: { readonly tenant_id: number; readonly agent_id: string; readonly tools: string },
): Promise<void> {
  await db
    .insertInto('agent_tools')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'agent_id']).doUpdateSet({ tools: row.tools }))
    .execute();
}
