import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { bytesOf } from '../slices.ts';
import { type Database, isPostgres, oneOf } from '../transaction.ts';
import { largeSessionColumns } from './session-store.ts';

/** An index whose entries are in the order of a list. */
interface ListIndex {
  readonly table: keyof Tables & ('sessions' | 'session_agents' | 'session_tools');
  /** Column with the id of the session. */
  readonly id: string;
  /** Condition that selects one run of entries in the index. */
  readonly run: RawBuilder<unknown>;
}

/** Columns of the flags by which the sessions of a status are indexed. */
const flagOfStatus = { errors: 'has_errors', denied: 'has_denials', held: 'has_holds' } as const;

/** Returns the index that contains the fewest sessions which are not in the list. */
function indexOf({ sort, agentId, toolName, status, level, assigneeKey }: SessionListOptions): ListIndex {
  if (assigneeKey != null && sort !== 'riskScore') {
    return { table: 'sessions', id: 'id', run: sql`assignee_key = ${assigneeKey}` };
  }
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
    // The second condition is also in the partial index, so that the planner can use the index.
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
  /** Only sessions that are assigned to this person, as lists compare names; `null` for nobody. */
  readonly assigneeKey?: string | null | undefined;
  readonly startedAfterMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  readonly minRiskScore?: number | undefined;
  /** Place after which the list starts. */
  readonly after?: SessionPlace | undefined;
  readonly limit: number;
}

/** Place of a session in a list: the values that the list is sorted by. */
export interface SessionPlace {
  readonly startedMs: number;
  readonly id: string;
  /** The score, and -1 without one; only in lists by risk. */
  readonly rank?: number | undefined;
}

/** Lowers the letters of ASCII, as both databases do. */
function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** `true` if the text contains the other. Upper and lower case of ASCII letters are the same. */
export function containsText(text: string, part: string): boolean {
  return lowered(text).includes(lowered(part));
}

/** Returns the sizes in bytes of those sessions that pass all filters, by id. Each costs one look-up by its key. */
export async function passingSessions(
  db: Database,
  options: SessionListOptions,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .select(bytesOf(...largeSessionColumns))
    .where('tenant_id', '=', options.tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .where((eb) => eb.and(conditions(db, options)))
    .execute();
  return new Map(rows.map(({ id, size }) => [id, Number(size)]));
}

function conditions(db: Database, options: SessionListOptions): Expression<SqlBool>[] {
  const { tenantId, agentId, agentIdContains, toolName, status, level, assigneeKey } = options;
  const { startedAfterMs, startedBeforeMs, minRiskScore } = options;
  const all: Expression<SqlBool>[] = [];
  if (startedAfterMs !== undefined) all.push(sql<SqlBool>`started_ms > ${startedAfterMs}`);
  if (startedBeforeMs !== undefined) all.push(sql<SqlBool>`started_ms < ${startedBeforeMs}`);
  if (minRiskScore !== undefined) all.push(sql<SqlBool>`risk_score >= ${minRiskScore}`);
  if (level !== undefined) all.push(sql<SqlBool>`risk_level = ${level}`);
  if (status !== undefined) all.push(sql<SqlBool>`${sql.ref(flagOfStatus[status])} = 1`);
  if (assigneeKey === null) all.push(sql<SqlBool>`assignee_key is null`);
  else if (assigneeKey !== undefined) all.push(sql<SqlBool>`assignee_key = ${assigneeKey}`);
  if (toolName !== undefined) {
    all.push(sql<SqlBool>`exists (
      select 1 from session_tools as called
      where called.tenant_id = ${tenantId} and called.session_id = sessions.id and called.tool_name = ${toolName}
    )`);
  }
  const acted = (condition: Expression<SqlBool>) => sql<SqlBool>`exists (
    select 1 from session_agents as acted
    where acted.tenant_id = ${tenantId} and acted.session_id = sessions.id and ${condition}
  )`;
  if (agentId !== undefined) all.push(acted(sql`acted.agent_id = ${agentId}`));
  if (agentIdContains !== undefined) {
    const position = isPostgres(db) ? sql`strpos` : sql`instr`;
    all.push(acted(sql`${position}(lower(acted.agent_id), ${lowered(agentIdContains)}) > 0`));
  }
  return all;
}
