import type { Scope } from '@actlog/protocol';
import { findKey, insertKey, type StoredKey } from '../storage/key-store.ts';
import { lockNames, lockRows } from '../storage/locks.ts';
import type { Database } from '../storage/transaction.ts';
import { identifyApiKey, type KeyKind, newApiKey } from './api-key.ts';
import { requireShownName } from './shown-name.ts';

/** Every scope: what a key has when it is made without naming any. */
export const allScopes: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

/** How a key is made. */
export interface NewKeyOptions {
  readonly kind: KeyKind;
  /** For people; a key is told apart by its id. */
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  readonly expiresMs?: number | null | undefined;
  /** A key that was made before, such as one kept in a secret manager; else a new one is made. */
  readonly key?: string | undefined;
}

const given = 'The API key that "apiKey" (ACTLOG_API_KEY) gives';
const orNone = 'or none to have one made for this run';

/** The tenant of this name, made if there is none. @throws RangeError for a name that no server is told to use. */
export async function ensureTenant(db: Database, name: string): Promise<number> {
  const found = await tenantNamed(db, name);
  if (found) return found.id;
  requireShownName('tenant', name);
  const made = await db
    .insertInto('tenants')
    .values({ name, created_ms: Date.now(), settings_version: 0, retention_days: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst();
  // Another process was faster.
  return made ? made.id : ensureTenant(db, name);
}

async function tenantNamed(db: Database, name: string): Promise<{ id: number } | undefined> {
  if (typeof name !== 'string') {
    throw new TypeError(`A tenant must be given by its name, a string, not ${typeof name}.`);
  }
  return db
    .selectFrom('tenants')
    .select('id')
    .where('name', '=', name)
    .where('deleted_ms', 'is', null)
    .executeTakeFirst();
}

/** The tenant of this name. @throws Error when there is none. */
export async function tenantIdOf(db: Database, name: string): Promise<number> {
  const row = await tenantNamed(db, name);
  if (!row) throw new Error(`There is no tenant "${name}"; make it by its first key, or by createTenant.`);
  return row.id;
}

/** Keeps a tenant from being deleted until the transaction ends. @throws Error when it is deleted already. */
async function requireTenant(db: Database, tenantId: number): Promise<void> {
  const tenant = db
    .selectFrom('tenants')
    .select('id')
    .where('id', '=', tenantId)
    .where('deleted_ms', 'is', null);
  const row = await lockRows(db, tenant).executeTakeFirst();
  if (!row) throw new Error('The tenant was deleted.');
}

/**
 * Adds a key to a tenant, or finds it there. The whole key is returned and never stored.
 *
 * @throws TypeError when a given `key` does not have the form of a key, or is another tenant's; RangeError for a name
 * that cannot be shown on one line.
 */
export async function addKey(
  db: Database,
  tenantId: number,
  options: NewKeyOptions,
): Promise<{ key: string; stored: StoredKey }> {
  requireShownName('key', options.name);
  const key = options.key ?? newApiKey(options.kind);
  const identity = identifyApiKey(key);
  if (!identity) {
    throw new TypeError(`${given} does not have the form of a key; copy it again, ${orNone}.`);
  }
  await requireTenant(db, tenantId);
  await lockNames(db, tenantId, [`key ${identity.id}`]);
  const known = await findKey(db, identity.id);
  if (known) {
    if (known.tenantId !== tenantId || known.digest !== identity.digest) {
      throw new TypeError(
        `${given} belongs to another tenant of this database; give another key, ${orNone}.`,
      );
    }
    return { key, stored: known };
  }
  const stored = {
    tenantId,
    id: identity.id,
    digest: identity.digest,
    kind: identity.kind,
    name: options.name,
    scopes: options.scopes ?? allScopes,
    createdMs: Date.now(),
    expiresMs: options.expiresMs ?? null,
    lastUsedMs: null,
  };
  await insertKey(db, stored);
  return { key, stored };
}
