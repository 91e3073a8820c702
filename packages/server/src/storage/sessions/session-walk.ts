import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';
import type { SessionPlace } from './session-place.ts';

/** An index whose entries are in the order of a list. */
interface ListIndex {
  readonly table: keyof Tables & ('sessions' | 'session_agents' | 'session_tools');
  /** Column with the id of the session. */
  readonly id: string;
  /** Condition that selects one run of entries in the index. */
  readonly run: RawBuilder<unknown>;
}

/** Columns of the flags by which the sessions of a status are indexed. */
export const flagOfStatus = { errors: 'has_errors', denied: 'has_denials', held: 'has_holds' } as const;

/** Returns the index that contains the fewest sessions which are not in the list. */
function indexOf({ sort, agentId, toolName, status, level }: SessionListOptions): ListIndex {
  if (toolName !== undefined && sort !== 'riskScore') {
    return { table: 'session_tools', id: 'session_id', run: sql`tool_name = ${toolName}` };
  }
  if (agentId !== undefined) {
    return { table: 'session_agents', id: 'session_id', run: sql`agent_id = ${agentId}` };
  }
  if (status !== undefined && sort !== 'riskScore') {
    return { table: 'sessions', id: 'id', run: sql`${sql.ref(flagOfStatus[status])} = 1` };
  }
  if (level !== undefined && level !== 'low') {
    // The second condition repeats that of the partial index, so that the planner can use the index.
    return { table: 'sessions', id: 'id', run: sql`risk_level = ${level} and risk_level <> 'low'` };
  }
  return { table: 'sessions', id: 'id', run: sql`true` };
}

/**
 * Reads the next places of an index, in the order of the list. Its cost depends on `count` alone. Entries may be of
 * sessions that do not pass all filters.
 */
export async function walkSessions(
  db: Database,
  options: SessionListOptions,
  after: SessionPlace | undefined,
  count: number,
): Promise<SessionPlace[]> {
  const { rows } = await walkQuery(options, after, count).execute(db);
  const isByRisk = options.sort === 'riskScore';
  return rows.map(({ started_ms: startedMs, id, rank }) => ({ startedMs, id, ...(isByRisk && { rank }) }));
}

/** Returns the query of {@link walkSessions}. */
export function walkQuery(
  options: SessionListOptions,
  after: SessionPlace | undefined,
  count: number,
): RawBuilder<{ started_ms: number; id: string; rank: number }> {
  const { tenantId, sort, startedAfterMs, startedBeforeMs, minRiskScore } = options;
  const { table, id: idColumn, run } = indexOf(options);
  const isByRisk = sort === 'riskScore';
  const id = sql.ref(idColumn);
  const conditions = [sql`tenant_id = ${tenantId}`, run];
  if (after) {
    conditions.push(
      isByRisk
        ? sql`(risk_rank, started_ms, ${id}) < (${after.rank}, ${after.startedMs}, ${after.id})`
        : sql`(started_ms, ${id}) < (${after.startedMs}, ${after.id})`,
    );
  }
  if (isByRisk && minRiskScore !== undefined) conditions.push(sql`risk_rank >= ${minRiskScore}`);
  if (!isByRisk && startedAfterMs !== undefined) conditions.push(sql`started_ms > ${startedAfterMs}`);
  if (!isByRisk && startedBeforeMs !== undefined) conditions.push(sql`started_ms < ${startedBeforeMs}`);
  const rank = isByRisk ? sql`risk_rank` : sql`0`;
  return sql`
    select started_ms, ${id} as id, ${rank} as rank from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)}
    order by ${isByRisk ? sql`risk_rank desc, ` : sql``}started_ms desc, ${id} desc limit ${count}
  `;
}

/** Filters, order and position of a list of sessions. */
export interface SessionListOptions {
  readonly tenantId: number;
  /** Default: `startedAt`, newest first. `riskScore` is highest first, then newest. */
  readonly sort?: 'startedAt' | 'riskScore' | undefined;
  /** Only sessions in which this agent acted. */
  readonly agentId?: string | undefined;
  /** Only sessions in which an agent acted whose id contains this text. */
  readonly agentIdContains?: string | undefined;
  /** Only sessions whose id contains this text. */
  readonly idContains?: string | undefined;
  /** Only sessions in which this tool was called. */
  readonly toolName?: string | undefined;
  /** Only sessions of this level. */
  readonly level?: 'low' | 'medium' | 'high' | 'critical' | undefined;
  /** Only sessions with a failed call, a denied action or a held action. */
  readonly status?: 'errors' | 'denied' | 'held' | undefined;
  readonly startedAfterMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  readonly minRiskScore?: number | undefined;
  /** Place after which the list starts. */
  readonly after?: SessionPlace | undefined;
  readonly limit: number;
}
