import { type Expression, type SqlBool, sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import { oneOf } from '../queries/one-of.ts';
import { bytesOf } from '../queries/slice.ts';
import type { Database } from '../transaction.ts';
import { largeSessionColumns } from './session-store.ts';
import { flagOfStatus, type SessionListOptions } from './session-walk.ts';

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
  const { tenantId, agentId, agentIdContains, toolName, status, level } = options;
  const { startedAfterMs, startedBeforeMs, minRiskScore } = options;
  const all: Expression<SqlBool>[] = [];
  if (startedAfterMs !== undefined) all.push(sql<SqlBool>`started_ms > ${startedAfterMs}`);
  if (startedBeforeMs !== undefined) all.push(sql<SqlBool>`started_ms < ${startedBeforeMs}`);
  if (minRiskScore !== undefined) all.push(sql<SqlBool>`risk_score >= ${minRiskScore}`);
  if (level !== undefined) all.push(sql<SqlBool>`risk_level = ${level}`);
  if (status !== undefined) all.push(sql<SqlBool>`${sql.ref(flagOfStatus[status])} = 1`);
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
