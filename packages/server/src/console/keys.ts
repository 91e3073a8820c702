import { notFound, validationError } from '../http/api-error.ts';
import { authenticationFailed, requireEveryScope } from '../http/authentication.ts';
import { validated } from '../http/validation.ts';
import { type CreatedKey, EndedKeyError, makeKey, revokeKey, rotateKey } from '../keys/key-changes.ts';
import type { Services } from '../services.ts';
import { findKey, hasEnded, listRecentKeys } from '../storage/key-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { ConsoleCall, ConsoleRoute } from './console-route.ts';
import { keyView } from './key-view.ts';
import { createKeyBody, revokeKeyBody, rotateKeyBody } from './keys-requests.ts';

/** Milliseconds that a key is listed after its end. */
const endedListedForMs = 30 * 24 * 3_600_000;

/** Keys that are listed at most. */
const longestList = 1000;

/** `GET /console/api/keys`: the newest first, without those that ended more than 30 days ago; at most 1,000. */
export function listKeysRoute({ storage }: Services): ConsoleRoute {
  return {
    method: 'GET',
    path: '/keys',
    success: 200,
    check: requireEveryScope,
    async handle({ caller: { tenantId, keyId } }) {
      const endedAfterMs = Date.now() - endedListedForMs;
      const keys = await storage.read(tenantId, (db) =>
        listRecentKeys(db, { tenantId, endedAfterMs, limit: longestList }),
      );
      return { items: keys.map((key) => keyView(key, keyId)) };
    },
  };
}

/** `POST /console/api/keys`: the one time that the key is shown. */
export function createKeyRoute(services: Services): ConsoleRoute {
  return {
    method: 'POST',
    path: '/keys',
    success: 201,
    check: requireEveryScope,
    async handle(call) {
      const wanted = validated('body', createKeyBody, call.body);
      const created = await changeKeys(services, call, (db, tenantId) => makeKey(db, tenantId, wanted));
      noteChange(call, { change: 'created', targetKeyId: created.key.id });
      return createdView(created, call);
    },
  };
}

/** `POST /console/api/keys/:id/rotate`: a key that takes the place of another; the one time that it is shown. */
export function rotateKeyRoute(services: Services): ConsoleRoute {
  return {
    method: 'POST',
    path: '/keys/:id/rotate',
    success: 201,
    check: requireEveryScope,
    async handle(call) {
      const rotation = validated('body', rotateKeyBody, call.body);
      const created = await changeKeys(services, call, (db, tenantId) =>
        rotateKey(db, tenantId, call.id, rotation),
      );
      if (!created) throw notFound('key');
      noteChange(call, { change: 'rotated', targetKeyId: call.id, newKeyId: created.key.id });
      return createdView(created, call);
    },
  };
}

/** `POST /console/api/keys/:id/revoke`: ends a key at once; one that has ended stays as it is. */
export function revokeKeyRoute(services: Services): ConsoleRoute {
  return {
    method: 'POST',
    path: '/keys/:id/revoke',
    success: 200,
    check: requireEveryScope,
    async handle(call) {
      validated('body', revokeKeyBody, call.body);
      const revoked = await changeKeys(services, call, (db, tenantId) => revokeKey(db, tenantId, call.id));
      if (!revoked) throw notFound('key');
      if (!revoked.hadEnded) noteChange(call, { change: 'revoked', targetKeyId: call.id });
      return { key: keyView(revoked.key, call.caller.keyId) };
    },
  };
}

/**
 * Changes keys of the caller's tenant, which counts at once in this process. A key that was revoked elsewhere is
 * believed for up to a second, in which it must not make itself a successor: so it is looked at anew.
 */
async function changeKeys<Result>(
  { storage, keys }: Services,
  call: ConsoleCall,
  change: (db: Database, tenantId: number) => Promise<Result>,
): Promise<Result> {
  const { tenantId, keyId } = call.caller;
  try {
    return await storage.write(tenantId, async ({ db, afterCommit }) => {
      const asking = await findKey(db, keyId);
      if (!asking || hasEnded(asking)) throw authenticationFailed();
      afterCommit(() => keys.forget(call.id));
      return change(db, tenantId);
    });
  } catch (error) {
    if (!(error instanceof EndedKeyError)) throw error;
    throw validationError('params.id', 'key_ended', 'is a key that has ended; make a new one instead');
  }
}

function createdView({ apiKey, key }: CreatedKey, { caller }: ConsoleCall): object {
  return { key: keyView(key, caller.keyId), apiKey };
}

/** What was done to a key. */
interface KeyChange {
  readonly change: 'created' | 'rotated' | 'revoked';
  readonly targetKeyId: string;
  /** What takes the place of the target. */
  readonly newKeyId?: string;
}

/** Leaves a line for who asks later who changed a key: ids only, and never a key or its name. */
function noteChange({ caller: { tenantId, keyId }, log }: ConsoleCall, change: KeyChange): void {
  log.info({ tenantId, keyId, ...change }, 'key changed');
}
