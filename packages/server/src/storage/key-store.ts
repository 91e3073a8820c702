import type { Scope } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { lockRows } from './locks.ts';
import type { ApiKeyTable } from './schema.ts';
import type { Database } from './transaction.ts';

/** A stored key, without its digest. */
export interface StoredKey {
  readonly id: string;
  readonly kind: 'live' | 'test';
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdMs: number;
  /** From this moment the key is refused; null for never. */
  readonly expiresMs: number | null;
  readonly lastUsedMs: number | null;
}

/** A stored key with what authentication compares. */
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
  };
}

/** The key of this id, whichever tenant it belongs to. */
export async function findKey(db: Database, id: string): Promise<KeyRecord | undefined> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
  return row && keyRecord(row);
}

/** The key of this id, if it is the tenant's; nobody else changes it until the transaction ends. */
export async function lockKey(db: Database, tenantId: number, id: string): Promise<KeyRecord | undefined> {
  const query = db.selectFrom('api_keys').selectAll().where('tenant_id', '=', tenantId).where('id', '=', id);
  const row = await lockRows(db, query).executeTakeFirst();
  return row && keyRecord(row);
}

/** All keys of a tenant, oldest first. */
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

/** The newest keys of a tenant, newest first, without those that ended before a moment. */
export async function listRecentKeys(
  db: Database,
  options: { readonly tenantId: number; readonly endedAfterMs: number; readonly limit: number },
): Promise<KeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where((eb) => eb.or([eb('expires_ms', 'is', null), eb('expires_ms', '>', options.endedAfterMs)]))
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(options.limit)
    .execute();
  return rows.map(keyRecord);
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
    })
    .execute();
}

/** Whether a key is taken no longer. */
export function hasEnded({ expiresMs }: Pick<StoredKey, 'expiresMs'>): boolean {
  return expiresMs !== null && expiresMs <= Date.now();
}

/** Ends a key at a moment, or earlier if it already ends earlier. */
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

/** Milliseconds by which `last_used_ms` may be behind: each key's processes would queue up to write it otherwise. */
const usedToMs = 1000;

/** Notes that a key was used. */
export async function noteKeyUsed(db: Database, tenantId: number, id: string, usedMs: number): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_ms: usedMs })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_used_ms', 'is', null), eb('last_used_ms', '<', usedMs - usedToMs)]))
    .execute();
}
