import type { Selectable } from 'kysely';
import { bulkInsert } from './bulk-insert.ts';
import { oneOf } from './one-of.ts';
import { preparedQuery } from './prepared-query.ts';
import type { AgentTable } from './schema.ts';
import { type Slice, sliceWithin } from './slice.ts';
import type { Database } from './transaction.ts';

/** What ingest needs to know about an agent. */
export type AgentStanding = Pick<Selectable<AgentTable>, 'id' | 'status' | 'registered' | 'last_seen_ms'>;

const touchAgents = bulkInsert(
  'agents',
  ['tenant_id', 'id', 'metadata', 'status', 'registered', 'created_ms', 'updated_ms', 'last_seen_ms'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'id'])
        .doUpdateSet((eb) => ({ last_seen_ms: eb.ref('excluded.last_seen_ms') })),
    ),
);

const agentStandings = preparedQuery((db, tenantId: number, idsJson: string) =>
  db
    .selectFrom('agents')
    .select(['id', 'status', 'registered', 'last_seen_ms'])
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', idsJson)),
);

/** The standing of these agents, as far as they are known. */
export async function findAgentStandings(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<Map<string, AgentStanding>> {
  const rows = await agentStandings(db, tenantId, JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Milliseconds by which `last_seen_ms` may be behind, so that a busy agent is not written with each of its events. */
const seenToMs = 1000;

/** Notes that agents acted, of whom `known` was read before. One that nobody registered gets a row, marked so. */
export async function noteAgentsSeen(
  db: Database,
  tenantId: number,
  seenMsById: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, AgentStanding>,
): Promise<void> {
  const seen = [...seenMsById]
    .filter(([id, seenMs]) => Math.abs(seenMs - (known.get(id)?.last_seen_ms ?? 0)) > seenToMs)
    // In one order, so that two processes cannot wait for each other.
    .sort(([left], [right]) => (left < right ? -1 : 1));
  await touchAgents(
    db,
    seen.map(([id, seenMs]) => ({
      tenant_id: tenantId,
      id,
      metadata: '{}',
      status: 'active' as const,
      registered: 0 as const,
      created_ms: seenMs,
      updated_ms: seenMs,
      last_seen_ms: seenMs,
    })),
  );
}

/** One agent, or undefined. */
export function findAgent(
  db: Database,
  tenantId: number,
  id: string,
): Promise<Selectable<AgentTable> | undefined> {
  return db
    .selectFrom('agents')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** A slice of the agents, the newest first. There are fewer than `limit` where their metadata is large. */
export function listAgents(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly registered?: boolean | undefined;
    readonly status?: 'active' | 'revoked' | undefined;
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<Slice<Selectable<AgentTable>>> {
  const { after, registered, status } = options;
  let query = db.selectFrom('agents').selectAll().where('tenant_id', '=', options.tenantId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'id'), '<', tuple(after.createdMs, after.id)),
    );
  }
  if (registered !== undefined) query = query.where('registered', '=', registered ? 1 : 0);
  if (status !== undefined) query = query.where('status', '=', status);
  return sliceWithin(options.limit, 'metadata', query.orderBy('created_ms', 'desc').orderBy('id', 'desc'));
}

/** Writes an agent whole: a new one, or the next state of one that is stored, but for when it was seen. */
export async function saveAgent(db: Database, row: Selectable<AgentTable>): Promise<void> {
  const { tenant_id: _tenant, id: _id, created_ms: _created, last_seen_ms: _seen, ...changes } = row;
  await db
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id']).doUpdateSet(changes))
    .execute();
}
