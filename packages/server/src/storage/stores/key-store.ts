import type { Scope } from '@actlog/protocol';
import { type Selectable, sql } from 'kysely';
import { lockRows } from '../locks.ts';
import type { ApiKeyTable } from '../schema.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import { bulkInsert, type Database, isPostgres, oneOf, preparedQuery } from '../transaction.ts';

/** A stored key, without its digest. */
export interface StoredKey {
  readonly id: string;
  readonly kind: 'live' | 'test';
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdMs: number;
  /** Time from which the key is refused, in Unix milliseconds; `null` for never. */
  readonly expiresMs: number | null;
  readonly lastUsedMs: number | null;
  /** Person or key that created it in the console; `null` for one that an operator created. */
  readonly createdBy: string | null;
  /** Patterns of the agents that the key may act as, with `*` for any characters; `null` for any agent. */
  readonly agents: readonly string[] | null;
  /** `true` if several agents share the key, so that revoking one of them does not stop the others. */
  readonly shared: boolean;
  /** `true` if its requests need a token that verifies their agent. */
  readonly requiresIdentity: boolean;
}

/** A stored key with the fields that authentication compares. */
export interface KeyRecord extends StoredKey {
  readonly tenantId: number;
  readonly digest: string;
}

function keyRecord(row: Selectable<ApiKeyTable>): KeyRecord {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    digest: row.digest,
    kind: row.kind,
    name: row.name,
    scopes: JSON.parse(row.scopes) as Scope[],
    createdMs: row.created_ms,
    expiresMs: row.expires_ms,
    lastUsedMs: row.last_used_ms,
    createdBy: row.created_by,
    agents: row.agents === null ? null : (JSON.parse(row.agents) as string[]),
    shared: row.shared === 1,
    requiresIdentity: row.requires_identity === 1,
  };
}

/** Returns the key with this id, of any tenant. */
export async function findKey(db: Database, id: string): Promise<KeyRecord | undefined> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
  return row && keyRecord(row);
}

/** Returns the keys with these ids, by id. */
export async function findKeys(db: Database, ids: readonly string[]): Promise<Map<string, KeyRecord>> {
  const query = db
    .selectFrom('api_keys')
    .selectAll()
    .where(oneOf(db, 'id', JSON.stringify(ids)));
  return new Map((await query.execute()).map((row) => [row.id, keyRecord(row)]));
}

/** Returns a key of the tenant, and locks it until the transaction ends. */
export async function lockKey(db: Database, tenantId: number, id: string): Promise<KeyRecord | undefined> {
  const query = db.selectFrom('api_keys').selectAll().where('tenant_id', '=', tenantId).where('id', '=', id);
  const row = await lockRows(db, query).executeTakeFirst();
  return row && keyRecord(row);
}

/** Returns all keys of a tenant, oldest first. */
export async function listKeys(db: Database, tenantId: number): Promise<KeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('created_ms')
    .orderBy('id')
    .execute();
  return rows.map(keyRecord);
}

/** Returns the newest keys of a tenant, newest first, without those that ended before `endedAfterMs`. */
export async function listRecentKeys(
  db: Database,
  options: { readonly tenantId: number; readonly endedAfterMs: number; readonly limit: number },
): Promise<Slice<KeyRecord>> {
  const recent = db
    .selectFrom('api_keys')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where((eb) => eb.or([eb('expires_ms', 'is', null), eb('expires_ms', '>', options.endedAfterMs)]))
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc');
  const { rows, hasMore } = await querySliceWithin(options.limit, ['agents', 'name', 'created_by'], recent);
  return { rows: rows.map(keyRecord), hasMore };
}

/** Adds a key. */
export async function insertKey(db: Database, key: KeyRecord): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      tenant_id: key.tenantId,
      id: key.id,
      digest: key.digest,
      kind: key.kind,
      name: key.name,
      scopes: JSON.stringify(key.scopes),
      created_ms: key.createdMs,
      expires_ms: key.expiresMs,
      last_used_ms: key.lastUsedMs,
      created_by: key.createdBy,
      agents: key.agents && JSON.stringify(key.agents),
      shared: key.shared ? 1 : 0,
      requires_identity: key.requiresIdentity ? 1 : 0,
    })
    .execute();
}

/** `true` if a key has expired or was revoked. */
export function hasEnded({ expiresMs }: Pick<StoredKey, 'expiresMs'>): boolean {
  return expiresMs !== null && expiresMs <= Date.now();
}

/** Makes a key expire at `expiresMs`, unless it already expires earlier. */
export async function expireKey(
  db: Database,
  tenantId: number,
  id: string,
  expiresMs: number,
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set((eb) => ({
      expires_ms: eb
        .case()
        .when('expires_ms', '<', expiresMs)
        .then(eb.ref('expires_ms'))
        .else(expiresMs)
        .end(),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Resolution of `last_used_ms`, in milliseconds. Processes would otherwise queue up to write the row of a busy key. */
const lastUsedResolutionMs = 1000;

/** Records that a key was used. */
export async function recordKeyUse(
  db: Database,
  tenantId: number,
  id: string,
  usedMs: number,
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_ms: usedMs })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('last_used_ms', 'is', null), eb('last_used_ms', '<', usedMs - lastUsedResolutionMs)]),
    )
    .execute();
}

/** Maximum number of agents kept for each key. */
const maxAgents = 1000;

/** Stands for all agents beyond the maximum. No agent has an empty id. */
const furtherAgents = '';

const addKeyAgents = bulkInsert('key_agents', ['tenant_id', 'key_id', 'agent_id'], (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
);

/**
 * Records agents that a key has acted as. Of a key with more than 1,000, it only records that there are more: a key that
 * could forget an agent by acting as many others would escape the agent's revocation.
 *
 * @returns `isFull` if the key has more agents than are kept
 */
export async function addAgentsOfKey(
  db: Database,
  tenantId: number,
  keyId: string,
  agentIds: readonly string[],
): Promise<{ readonly isFull: boolean }> {
  const { count } = await db
    .selectFrom('key_agents')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();
  const isFull = Number(count) + agentIds.length > maxAgents;
  const added = isFull ? [furtherAgents] : agentIds;
  await addKeyAgents(
    db,
    added.map((agentId) => ({ tenant_id: tenantId, key_id: keyId, agent_id: agentId })),
  );
  return { isFull };
}

/** Maximum keys of {@link keysActingAs}. */
const maxKeysOfAgent = 50;

/** Returns the keys that have acted as an agent, newest use first. */
export async function keysActingAs(db: Database, tenantId: number, agentId: string): Promise<KeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('key_agents')
          .select('key_agents.key_id')
          .whereRef('key_agents.key_id', '=', 'api_keys.id')
          .where('key_agents.tenant_id', '=', tenantId)
          .where('key_agents.agent_id', '=', agentId),
      ),
    )
    .orderBy('last_used_ms', 'desc')
    .limit(maxKeysOfAgent)
    .execute();
  return rows.map(keyRecord);
}

/** Copies the agents that a key has acted as to the key that replaces it. */
export async function copyAgentsOfKey(
  db: Database,
  tenantId: number,
  from: string,
  to: string,
): Promise<void> {
  await db
    .insertInto('key_agents')
    .columns(['tenant_id', 'key_id', 'agent_id'])
    .expression((eb) =>
      eb
        .selectFrom('key_agents')
        .select(['tenant_id', eb.val(to).as('key_id'), 'agent_id'])
        .where('tenant_id', '=', tenantId)
        .where('key_id', '=', from),
    )
    .execute();
}

/** State of a tenant that each check reads first. */
export interface CheckState {
  /** Version of the tenant's policies and webhooks. */
  readonly settingsVersion: number;
  /** Revoked agents that may stop the check, in order. */
  readonly revokedAgents: readonly string[];
}

/** A single query, because every check runs it. */
const checkState = preparedQuery((db, tenantId: number, agentIdsJson: string, keyId: string) => {
  const revoked = db
    .selectFrom('agents')
    .select('id')
    .where('tenant_id', '=', tenantId)
    // A constant, so that SQLite uses the index of revoked agents.
    .where('status', '=', sql.lit('revoked' as const))
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        oneOf(db, 'id', agentIdsJson),
        exists(
          selectFrom('key_agents')
            .select('key_agents.key_id')
            .where('key_agents.tenant_id', '=', tenantId)
            .where('key_agents.key_id', '=', keyId)
            .where('key_agents.agent_id', 'in', [eb.ref('agents.id'), sql.lit(furtherAgents)]),
        ),
      ]),
    )
    .orderBy('id');
  const ids = isPostgres(db)
    ? sql<string | null>`json_agg(id order by id)::text`
    : sql<string | null>`json_group_array(id)`;
  return db
    .selectFrom('tenants')
    .select((eb) => [
      'settings_version',
      eb.selectFrom(revoked.as('revoked')).select(ids.as('ids')).as('revoked'),
    ])
    .where('id', '=', tenantId);
});

/**
 * Returns the version of a tenant's settings, and the revoked agents among some agents and all that a key has acted as.
 * Of a key with too many agents to tell, they may be any.
 *
 * @param keyId - `undefined` for the agents alone
 */
export async function readCheckState(
  db: Database,
  tenantId: number,
  agentIds: readonly string[],
  keyId: string | undefined,
): Promise<CheckState> {
  // No key has an empty id.
  const [row] = await checkState(db, tenantId, JSON.stringify(agentIds), keyId ?? '');
  if (!row) throw new Error(`There is no tenant ${tenantId}.`);
  return {
    settingsVersion: row.settings_version,
    revokedAgents: row.revoked === null ? [] : (JSON.parse(row.revoked) as string[]),
  };
}
