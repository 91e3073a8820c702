import type { PolicyCreate } from '@actlog/protocol';
import { sql } from 'kysely';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { containsText } from '../storage/sessions/session-walk.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';

/** Maximum distinct names that one request reads. */
const maxReadNames = 2000;

/**
 * Returns names of a tenant's tools that contain a text, in alphabetical order. The query jumps from each name to the
 * next one in the index, so its cost does not depend on the number of sessions.
 */
async function suggestedTools(
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
async function suggestedAgents(
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

/** Returns names of groups that contain a string: of the people who signed in, and of the active policies. */
async function suggestedGroups(
  db: Database,
  tenantId: number,
  text: string,
  limit: number,
): Promise<string[]> {
  const people = await db
    .selectFrom('people')
    .select('member_of')
    .where('tenant_id', '=', tenantId)
    .orderBy('seen_ms', 'desc')
    .limit(maxReadNames)
    .execute();
  const policies = await db
    .selectFrom('policies')
    .select('definition')
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'active')
    .limit(maxReadNames)
    .execute();
  const names = new Set([
    ...people.flatMap(({ member_of: groups }) => JSON.parse(groups) as string[]),
    ...policies.flatMap(
      ({ definition }) => (JSON.parse(definition) as PolicyCreate).approval?.approverGroups ?? [],
    ),
  ]);
  return matching(
    [...names].toSorted().map((name) => ({ name })),
    text,
    limit,
  );
}

const suggested = { agentId: suggestedAgents, toolName: suggestedTools, approverGroup: suggestedGroups };

function matching(rows: readonly { readonly name: string }[], text: string, limit: number): string[] {
  return rows
    .map(({ name }) => name)
    .filter((name) => containsText(name, text))
    .slice(0, limit);
}

/** Maximum names in one response. */
const maxSuggestions = 20;

/** Query of `GET /server/v1/suggestions`. */
const suggestionsQuery = z.strictObject({
  /** Filter of sessions, or field of policies, to suggest values for. */
  field: z.enum(['agentId', 'toolName', 'approverGroup']),
  /** Only names that contain this text, in upper or lower case. */
  contains: z.string().min(1).max(200).optional(),
});

/**
 * Route `GET /server/v1/suggestions`: names for a filter of sessions or a field of policies, at most 20, in alphabetical
 * order. The groups of people are for those who write policies.
 */
export function suggestionsRoute({
  storage,
}: {
  readonly storage: Storage;
}): ServerRoute<typeof suggestionsQuery> {
  return {
    method: 'GET',
    path: '/suggestions',
    success: 200,
    query: suggestionsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller, query: { field, contains = '' } }) {
      if (field === 'approverGroup') requireScope(caller, 'manage');
      const { tenantId } = caller;
      return {
        items: await storage.read(tenantId, (db) => suggested[field](db, tenantId, contains, maxSuggestions)),
      };
    },
  };
}
