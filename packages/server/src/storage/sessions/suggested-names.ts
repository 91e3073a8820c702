import { sql } from 'kysely';
import type { Database } from '../transaction.ts';
import { containsText } from './session-filter.ts';

/** Maximum distinct names that one request reads. */
const maxReadNames = 2000;

/**
 * Returns names of a tenant's tools that contain a text, in alphabetical order. The query jumps from each name to the
 * next one in the index, so its cost does not depend on the number of sessions.
 */
export async function suggestedTools(
  db: Database,
  tenantId: number,
  text: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(tool_name) from session_tools where tenant_id = ${tenantId}
      union all
      select (
        select min(tool_name) from session_tools where tenant_id = ${tenantId} and tool_name > names.name
      ) from names where names.name is not null
    )
    select name from names where name is not null limit ${maxReadNames}
  `.execute(db);
  return matching(rows, text, limit);
}

/** Returns ids of a tenant's agents that contain a text, in alphabetical order. */
export async function suggestedAgents(
  db: Database,
  tenantId: number,
  text: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('agents')
    .select('id as name')
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .limit(maxReadNames)
    .execute();
  return matching(rows, text, limit);
}

function matching(rows: readonly { readonly name: string }[], text: string, limit: number): string[] {
  return rows
    .map(({ name }) => name)
    .filter((name) => containsText(name, text))
    .slice(0, limit);
}
