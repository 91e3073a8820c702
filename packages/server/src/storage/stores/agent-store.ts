import type { Selectable } from 'kysely';
import type { AgentTable } from '../schema.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import { bulkInsert, bulkWrite, type Database, oneOf, preparedQuery } from '../transaction.ts';

/** Columns of an agent that recording reads. */
export type AgentState = Pick<Selectable<AgentTable>, 'id' | 'status' | 'registered' | 'last_seen_ms'>;

/** A stored agent. */
export type AgentRow = Selectable<AgentTable>;

const touchAgents = bulkWrite(
  'agents',
  ['tenant_id', 'id', 'metadata', 'status', 'registered', 'created_ms', 'updated_ms', 'last_seen_ms'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'id'])
        .doUpdateSet((eb) => ({ last_seen_ms: eb.ref('excluded.last_seen_ms') })),
    ),
);

const addAgents = bulkInsert(
  'agents',
  ['tenant_id', 'id', 'metadata', 'status', 'registered', 'created_ms', 'updated_ms', 'last_seen_ms'],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

const agentStates = preparedQuery((db, tenantId: number, idsJson: string) =>
  db
    .selectFrom('agents')
    .select(['id', 'status', 'registered', 'last_seen_ms'])
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', idsJson)),
);

/** Returns the stored agents among `ids`, by id. */
export async function findAgentStates(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<Map<string, AgentState>> {
  const rows = await agentStates(db, tenantId, JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Resolution of `last_seen_ms`, in milliseconds. A busy agent's row is not written for each of its events. */
const lastSeenResolutionMs = 1000;

/**
 * Records when agents were last seen. An unknown agent gets a row with `registered` 0. `known` holds the rows that
 * were read before.
 *
 * @returns the number of rows added.
 */
export async function recordAgentsSeen(
  db: Database,
  tenantId: number,
  seenMsById: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, AgentState>,
): Promise<number> {
  const seen = [...seenMsById]
    .filter(([id, seenMs]) => Math.abs(seenMs - (known.get(id)?.last_seen_ms ?? 0)) > lastSeenResolutionMs)
    // Sorted, so that two processes cannot deadlock.
    .sort(([left], [right]) => (left < right ? -1 : 1));
  const rows = seen.map(([id, seenMs]) => ({
    tenant_id: tenantId,
    id,
    metadata: '{}',
    status: 'active' as const,
    registered: 0 as const,
    created_ms: seenMs,
    updated_ms: seenMs,
    last_seen_ms: seenMs,
  }));
  const added = rows.filter(({ id }) => !known.has(id));
  // Another process may have added the same agent, so only inserted rows count.
  const count = await addAgents(db, added);
  await touchAgents(db, added.length === 0 ? rows : rows.filter(({ id }) => known.has(id)));
  return count;
}

/** Returns an agent, or `undefined` if there is none. */
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

/** Returns a slice of the agents, newest first. It has fewer than `limit` rows when their metadata is large. */
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
  return querySliceWithin(
    options.limit,
    ['metadata'],
    query.orderBy('created_ms', 'desc').orderBy('id', 'desc'),
  );
}

/**
 * Inserts an agent, or updates every column of a stored one except `created_ms` and `last_seen_ms`.
 *
 * @returns `true` if the agent was not stored before.
 */
export async function saveAgent(db: Database, row: AgentRow): Promise<boolean> {
  const { tenant_id: tenantId, id, created_ms: _created, last_seen_ms: _seen, ...changes } = row;
  const { numInsertedOrUpdatedRows: inserted = 0n } = await db
    .insertInto('agents')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (inserted > 0n) return true;
  await db
    .updateTable('agents')
    .set(changes)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
  return false;
}

/** Returns the bytes of an agent's metadata that count toward the quota; empty metadata counts as 0. */
export function metadataBytes(metadataJson: string): number {
  return metadataJson === '{}' ? 0 : Buffer.byteLength(metadataJson);
}
