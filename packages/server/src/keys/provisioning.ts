import type { Scope } from '@actlog/protocol';
import { lockNames } from '../storage/locks.ts';
import { findKey, insertKey, type StoredKey } from '../storage/stores/key-store.ts';
import { requireTenant, tenantNamed } from '../storage/stores/tenant-store.ts';
import type { Database } from '../storage/transaction.ts';
import { identifyApiKey, type KeyKind, newApiKey } from './api-key.ts';
import { requireSingleLineName } from './single-line-name.ts';

/** All scopes; the default of a new key. */
export const allScopes: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

/** Options for adding a key. */
export interface NewKeyOptions {
  readonly kind: KeyKind;
  /** Name for people; the id identifies the key. */
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  readonly expiresMs?: number | null | undefined;
  /** Patterns of the agents that it may act as. Default: any agent. */
  readonly agents?: readonly string[] | null | undefined;
  /** `true` if several agents share it. Default: `false`. */
  readonly shared?: boolean | undefined;
  /** Person or key that creates it. Default: an operator. */
  readonly createdBy?: string | undefined;
  /** An existing key, such as one from a secret manager. Default: a new key. */
  readonly key?: string | undefined;
}

const givenKey = 'The API key in "apiKey" (ACTLOG_API_KEY)';
const orOmit = 'or leave it out to create one for this run';

/** Returns the id of a tenant, which is created if missing. @throws RangeError for an invalid name. */
export async function ensureTenant(db: Database, name: string): Promise<number> {
  const found = await tenantNamed(db, name);
  if (found) return found.id;
  requireSingleLineName('tenant', name);
  const created = await db
    .insertInto('tenants')
    .values({ name, created_ms: Date.now(), settings_version: 0, retention_days: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst();
  // If nothing was inserted, another process has created the tenant.
  return created ? created.id : ensureTenant(db, name);
}

/**
 * Adds a key to a tenant, unless the tenant already has it. The whole key is returned and never stored.
 *
 * @throws TypeError when a given `key` is malformed or belongs to another tenant; RangeError for a name that does not
 *   fit on one line.
 */
export async function addKey(
  db: Database,
  tenantId: number,
  options: NewKeyOptions,
): Promise<{ key: string; stored: StoredKey }> {
  requireSingleLineName('key', options.name);
  const key = options.key ?? newApiKey(options.kind);
  const identity = identifyApiKey(key);
  if (!identity) {
    throw new TypeError(`${givenKey} is malformed; copy it again, ${orOmit}.`);
  }
  await requireTenant(db, tenantId);
  await lockNames(db, tenantId, [`key ${identity.id}`]);
  const existing = await findKey(db, identity.id);
  if (existing) {
    if (existing.tenantId !== tenantId || existing.digest !== identity.digest) {
      throw new TypeError(
        `${givenKey} belongs to another tenant of this database; use another key, ${orOmit}.`,
      );
    }
    return { key, stored: existing };
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
    createdBy: options.createdBy ?? null,
    agents: options.agents ?? null,
    shared: options.shared ?? false,
  };
  await insertKey(db, stored);
  return { key, stored };
}
