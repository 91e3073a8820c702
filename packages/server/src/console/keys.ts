import type { Scope } from '@actlog/protocol';
import * as z from 'zod';
import { authenticationFailed, requireEveryScope } from '../http/request-gate.ts';
import { callerFields, validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { maxDays } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { findKey, hasEnded, listRecentKeys, type StoredKey } from '../storage/stores/key-store.ts';
import { findSignIn } from '../storage/stores/sign-in-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { KeyKind } from '../tenants/api-key.ts';
import {
  type AuditParts,
  actorOf,
  auditRequest,
  type Change,
  keyChange,
  rotationChange,
} from '../tenants/audit-log.ts';
import type { Caller } from '../tenants/caller.ts';
import { type CreatedKey, createKey, EndedKeyError, revokeKey, rotateKey } from '../tenants/key-changes.ts';
import { keyAgents, keyKind, keyScopes } from '../tenants/key-options.ts';
import type { KeyRing } from '../tenants/key-ring.ts';
import { maxOverlapDays } from '../tenants/lifetime.ts';
import { singleLineName } from '../tenants/single-line-name.ts';

/** Parts of the routes that change keys. */
export interface KeyParts extends AuditParts {
  readonly storage: Storage;
  readonly keys: KeyRing;
}

/** Time for which an ended key is still listed, in milliseconds. */
const endedListedForMs = 30 * 24 * 3_600_000;

/** Maximum number of keys in the list. */
const maxListedKeys = 1000;

/**
 * Route `GET /console/api/keys`: up to 1,000 keys and a mebibyte of patterns of agents, newest first, without those that
 * ended more than 30 days ago.
 */
export function listKeysRoute({ storage }: Pick<KeyParts, 'storage'>): ServerRoute {
  return {
    method: 'GET',
    path: '/keys',
    success: 200,
    check: requireEveryScope,
    async handle({ caller: { tenantId, keyId } }) {
      const endedAfterMs = Date.now() - endedListedForMs;
      const { rows, hasMore } = await storage.read(tenantId, (db) =>
        listRecentKeys(db, { tenantId, endedAfterMs, limit: maxListedKeys }),
      );
      return { items: rows.map((key) => keyView(key, keyId)), hasMore };
    },
  };
}

/** Route `POST /console/api/keys`: creates a key and shows it this once. */
export function createKeyRoute(parts: KeyParts): ServerRoute {
  return {
    method: 'POST',
    path: '/keys',
    success: 201,
    check: requireEveryScope,
    async handle(call) {
      const wanted = validated('body', createKeyBody, call.body);
      const created = await changeKeys(
        parts,
        call,
        (db, tenantId, by) => createKey(db, tenantId, wanted, by),
        ({ key }) => keyChange('key.created', key),
      );
      logChange(call, { change: 'created', targetKeyId: created.key.id });
      return createdView(created, call);
    },
  };
}

/** Route `POST /console/api/keys/:id/rotate`: replaces a key and shows the new one this once. */
export function rotateKeyRoute(parts: KeyParts): ServerRoute {
  return {
    method: 'POST',
    path: '/keys/:id/rotate',
    success: 201,
    check: requireEveryScope,
    async handle(call) {
      const rotation = validated('body', rotateKeyBody, call.body);
      const created = await changeKeys(
        parts,
        call,
        (db, tenantId, by) => rotateKey(db, tenantId, call.id, rotation, by),
        (made) => made && rotationChange(call.id, made.key),
      );
      if (!created) throw notFound('key');
      logChange(call, { change: 'rotated', targetKeyId: call.id, newKeyId: created.key.id });
      return createdView(created, call);
    },
  };
}

/** Route `POST /console/api/keys/:id/revoke`: ends a key at once; one that has ended is unchanged. */
export function revokeKeyRoute(parts: KeyParts): ServerRoute {
  return {
    method: 'POST',
    path: '/keys/:id/revoke',
    success: 200,
    check: requireEveryScope,
    async handle(call) {
      validated('body', revokeKeyBody, call.body);
      const revoked = await changeKeys(
        parts,
        call,
        (db, tenantId) => revokeKey(db, tenantId, call.id),
        (done) => (done && !done.hadEnded ? keyChange('key.revoked', done.key) : undefined),
      );
      if (!revoked) throw notFound('key');
      if (!revoked.hadEnded) logChange(call, { change: 'revoked', targetKeyId: call.id });
      return { key: keyView(revoked.key, call.caller.keyId) };
    },
  };
}

/**
 * Changes keys of the caller's tenant, with immediate effect in this process. The caller is read again, because a key or a
 * sign-in that ended in another process is cached for up to a second, in which it must not create a key.
 *
 * @param change - makes the change, given the name of the person or the id of the key that requests it
 * @param entryOf - returns the entry of the audit log; `undefined` if nothing has changed
 */
async function changeKeys<Result>(
  parts: KeyParts,
  call: ServerCall,
  change: (db: Database, tenantId: number, by: string) => Promise<Result>,
  entryOf: (result: Result) => Change | undefined,
): Promise<Result> {
  const { tenantId } = call.caller;
  const { id, principal } = actorOf(parts, call);
  try {
    return await parts.storage.write(tenantId, async ({ db, afterCommit }) => {
      if (!(await isStillValid(db, call.caller))) throw authenticationFailed();
      afterCommit(() => parts.keys.forget(call.id));
      const result = await change(db, tenantId, principal ?? id);
      const entry = entryOf(result);
      if (entry) await auditRequest(parts, db, call, entry);
      return result;
    });
  } catch (error) {
    if (!(error instanceof EndedKeyError)) throw error;
    throw validationError('params.id', 'key_ended', 'is a key that has ended; create a new one instead');
  }
}

async function isStillValid(db: Database, { keyId, user }: Caller): Promise<boolean> {
  if (keyId === undefined)
    return user?.signIn === undefined || (await findSignIn(db, user.signIn.digest)) !== undefined;
  const key = await findKey(db, keyId);
  return key !== undefined && !hasEnded(key);
}

function createdView({ apiKey, key }: CreatedKey, { caller }: ServerCall): object {
  return { key: keyView(key, caller.keyId), apiKey };
}

/** A change of a key. */
interface KeyChange {
  readonly change: 'created' | 'rotated' | 'revoked';
  readonly targetKeyId: string;
  /** Id of the key that replaces the target. */
  readonly newKeyId?: string;
}

/** Logs a change of a key with the ids only, never a key or its name. */
function logChange({ caller, log }: ServerCall, change: KeyChange): void {
  log.info({ ...callerFields(caller), ...change }, 'key changed');
}

/** Days until a key expires, may be fractional. Default: never. */
const expiresInDays = z.number().gt(0).max(maxDays).optional();

/** Body of `POST /console/api/keys`. */
const createKeyBody = z.strictObject({
  /** Name for people; the id identifies the key. */
  name: singleLineName,
  /** Kind of the key. Default: `live`. */
  kind: keyKind.optional(),
  /** Scopes of the key. Default: all. */
  scopes: keyScopes.optional(),
  /** Patterns of the agents that it may act as, with `*` for any characters; `null` for any agent. Default: any. */
  agents: keyAgents.nullish(),
  /** `true` if several agents share it, so that revoking one does not stop the others. Default: `false`. */
  shared: z.boolean().optional(),
  /** `true` if its requests need a token that verifies their agent. Default: `false`. */
  requiresIdentity: z.boolean().optional(),
  expiresInDays,
});

/** Body of `POST /console/api/keys/:id/rotate`; a missing body equals an empty one. */
const rotateKeyBody = z
  .strictObject({
    /** Days that the old key remains valid, may be fractional. */
    overlapDays: z.number().min(0).max(maxOverlapDays).default(1),
    /** Expiry of the new key. */
    expiresInDays,
  })
  .prefault({});

/** Body of `POST /console/api/keys/:id/revoke`: missing or empty. */
const revokeKeyBody = z.strictObject({}).optional();

/** A key as the console shows it. Times are ISO 8601 in UTC with milliseconds. */
interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  /** Last use, up to a second late; `null` if the key was never used. */
  readonly lastUsedAt: string | null;
  /** Time from which the key is refused; `null` for never. */
  readonly expiresAt: string | null;
  /** Person or key that created it in the console; `null` for one that an operator created. */
  readonly createdBy: string | null;
  /** Patterns of the agents that it may act as; `null` for any agent. */
  readonly agents: readonly string[] | null;
  /** `true` if several agents share it, so that revoking one does not stop the others. */
  readonly shared: boolean;
  /** `true` if its requests need a token that verifies their agent. */
  readonly requiresIdentity: boolean;
  /** `true` for the key of the request. */
  readonly current: boolean;
}

/** Returns the view of a key for a caller with the key `callerKeyId`; `undefined` for a person. */
function keyView(key: StoredKey, callerKeyId: string | undefined): KeyView {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    scopes: key.scopes,
    createdAt: isoTime(key.createdMs),
    lastUsedAt: isoTimeOrNull(key.lastUsedMs),
    expiresAt: isoTimeOrNull(key.expiresMs),
    createdBy: key.createdBy,
    agents: key.agents,
    shared: key.shared,
    requiresIdentity: key.requiresIdentity,
    current: key.id === callerKeyId,
  };
}
