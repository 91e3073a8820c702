import type { Scope } from '@actlog/protocol';
import { lockNames } from '../storage/locks.ts';
import type { Storage } from '../storage/storage.ts';
import { expireKey, findKey, hasEnded, insertKey, type StoredKey } from '../storage/stores/key-store.ts';
import { requireTenant, tenantNamed } from '../storage/stores/tenant-store.ts';
import type { Database } from '../storage/transaction.ts';
import { derivedApiKey, identifyApiKey, type KeyKind, newApiKey } from './api-key.ts';
import type { DeploymentSecret } from './deployment-secret.ts';
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
  /** `true` if its requests need a token that verifies their agent. Default: `false`. */
  readonly requiresIdentity?: boolean | undefined;
  /** Person or key that creates it. Default: an operator. */
  readonly createdBy?: string | undefined;
  /** An existing key, such as one from a secret manager. Default: a new key. */
  readonly key?: string | undefined;
}

/** API key with its record. */
interface ProvisionedKey {
  readonly key: string;
  readonly stored: StoredKey;
}

const givenKey = 'The API key in "apiKey" (ACTLOG_ADMIN_KEY)';
const orOmit = 'or leave it out to create one for this run';

/** Returns the id of a tenant, which is created if missing. @throws RangeError for an invalid name. */
export async function ensureTenant(db: Database, name: string): Promise<number> {
  const found = await tenantNamed(db, name);
  if (found) return found.id;
  requireSingleLineName('tenant', name);
  const created = await db
    .insertInto('tenants')
    .values({ name, created_ms: Date.now(), settings_version: 0 })
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
): Promise<ProvisionedKey> {
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
    requiresIdentity: options.requiresIdentity ?? false,
  };
  await insertKey(db, stored);
  return { key, stored };
}

/**
 * Adds the administrator's key that the operator configured, with every scope.
 *
 * @throws TypeError as {@link addKey}, and for a key that exists without every scope or is bound to agents, such as an
 *   agent's key: nobody could administer the tenant with it.
 */
async function addAdminKey(db: Database, tenantId: number, key: string): Promise<ProvisionedKey> {
  const added = await addKey(db, tenantId, { kind: 'test', name: 'startServer', scopes: allScopes, key });
  const { scopes, agents } = added.stored;
  if (allScopes.every((scope) => scopes.includes(scope)) && agents === null) return added;
  throw new TypeError(
    `${givenKey} exists with the scopes ${scopes.join(', ')}${agents === null ? '' : ', for some agents'}, and an administrator's key has every scope. ` +
      "Use another key, or leave it out; an agent's key is for the agent only.",
  );
}

/**
 * Adds a test key that stays the same for a purpose, tenant and deployment, so that programs keep working when a server of
 * the same database starts again. A key that was revoked is replaced by the next one, and one for other agents is another
 * key.
 *
 * @param seed - secret of the deployment for the key's purpose
 */
async function addLastingKey(
  db: Database,
  tenantId: number,
  seed: Buffer,
  options: Pick<NewKeyOptions, 'name' | 'scopes' | 'agents'>,
): Promise<ProvisionedKey> {
  for (let number = 0; ; number += 1) {
    const bound = options.agents ? ` ${JSON.stringify(options.agents.toSorted())}` : '';
    const key = derivedApiKey('test', seed, `${tenantId} ${number}${bound}`);
    const added = await addKey(db, tenantId, { kind: 'test', ...options, key });
    if (!hasEnded(added.stored)) return added;
  }
}

/** Scopes of the key for agents. With `decide`, an agent could approve its own actions. */
const agentScopes: readonly Scope[] = ['ingest', 'read'];

/** Keys of one run of a server. */
export interface RunKeys {
  readonly tenantId: number;
  /** Key with every scope. */
  readonly main: ProvisionedKey;
  /** Key for agents; `undefined` if the main key is configured. */
  readonly agent: ProvisionedKey | undefined;
}

/** Settings of the keys of a run. */
interface RunKeySettings {
  /** Name of the tenant. */
  readonly tenant: string;
  /** An API key to use instead of creating one. */
  readonly apiKey?: string | undefined;
  /** Patterns of the agents that the key for agents may act as. Default: any agent. */
  readonly agents?: readonly string[] | undefined;
}

/**
 * Creates the keys of this run, or takes the configured key as `main` and creates none.
 *
 * @param secret - secret that keys are derived from which outlast this run; `undefined` for keys of this run only
 */
export function provisionKeys(
  storage: Storage,
  { tenant, apiKey, agents: bound }: RunKeySettings,
  secret: DeploymentSecret | undefined,
): Promise<RunKeys> {
  return storage.writeAcross('administer', async ({ db }) => {
    const tenantId = await ensureTenant(db, tenant);
    if (apiKey !== undefined) {
      return { tenantId, main: await addAdminKey(db, tenantId, apiKey), agent: undefined };
    }
    const add = (seed: Buffer | undefined, options: Pick<NewKeyOptions, 'name' | 'scopes' | 'agents'>) =>
      seed ? addLastingKey(db, tenantId, seed, options) : addKey(db, tenantId, { kind: 'test', ...options });
    const { admin, agents } = secret?.testKeySeeds ?? {};
    return {
      tenantId,
      main: await add(admin, { name: 'startServer', scopes: allScopes }),
      agent: await add(agents, { name: 'startServer (agents)', scopes: agentScopes, agents: bound }),
    };
  });
}

/** Ends the keys of this run. A configured key stays. */
export async function endKeys(storage: Storage, { tenantId, main, agent }: RunKeys): Promise<void> {
  if (!agent) return;
  for (const { stored } of [main, agent]) {
    await storage.write(tenantId, ({ db }) => expireKey(db, tenantId, stored.id, Date.now()));
  }
}
