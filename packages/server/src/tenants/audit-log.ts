import type { AuditAction, AuditActor, AuditFieldChange } from '@actlog/protocol';
import { validationError } from '../lib/api-error.ts';
import { newIdentifierAt } from '../lib/identifier.ts';
import { insertAuditEntry } from '../storage/stores/audit-store.ts';
import type { StoredKey } from '../storage/stores/key-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { SignInRow } from '../storage/stores/sign-in-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { Caller, Role } from './caller.ts';
import { requireCountedRoom } from './quotas.ts';

/** Maximum length of a principal, in characters. */
const maxPrincipalLength = 200;

/** A request whose author is wanted. */
interface AuthoredRequest {
  readonly caller: Pick<Caller, 'id' | 'keyName' | 'user'>;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
}

/** Author of a request: a person who is signed in, or a key, with the person whom a trusted proxy names. */
export interface RequestActor extends AuditActor {
  readonly kind: 'key' | 'person';
  /** `key_…` for a key, `usr_…` for a person. */
  readonly id: string;
  /** Groups of the person; none for a key. */
  readonly groups?: readonly string[] | undefined;
}

/** Author of changes by the server's command and its host program. */
export const operator: AuditActor = { kind: 'operator', id: null, name: null, principal: null };

/** Author of changes that the server itself makes. */
export const serverItself: AuditActor = { kind: 'server', id: null, name: null, principal: null };

/** Setting by which {@link actorOf} finds the author of a request. */
export interface ActorParts {
  /**
   * Header in which a trusted proxy names the person; `undefined` without such a proxy. The gate has removed it from the
   * requests of all others.
   */
  readonly principalHeader: string | undefined;
}

/** Parts that {@link auditRequest} uses. */
export interface AuditParts extends ActorParts {
  /** Quotas of the deployment, for tenants that have none. */
  readonly quotas: DeploymentQuotas;
}

/**
 * Returns the author of a request. Approvals, events and the audit log name the same author.
 *
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function actorOf(
  { principalHeader }: ActorParts,
  { caller: { id, keyName, user }, header }: AuthoredRequest,
): RequestActor {
  if (user) return { kind: 'person', id, name: user.name, principal: user.name, groups: user.groups };
  const principal = principalHeader === undefined ? '' : (header(principalHeader)?.trim() ?? '');
  if (principal.length > maxPrincipalLength) {
    const path = `headers.${principalHeader}`;
    throw validationError(path, 'too_big', `must have at most ${maxPrincipalLength} characters`);
  }
  return { kind: 'key', id, name: keyName ?? null, principal: principal === '' ? null : principal };
}

/** Maximum length of a value in the log, as JSON, in characters. Of a longer one the log has only the field. */
const maxValueLength = 2000;

/**
 * Returns the fields that differ between two states of a target, with both values.
 *
 * @param before - state before the change; `undefined` if the target did not exist
 * @param fields - fields whose values the log may keep: no secret, and nothing that an agent sent
 */
export function fieldChanges<State extends object>(
  before: State | undefined,
  after: State | undefined,
  fields: readonly (keyof State & string)[],
): AuditFieldChange[] {
  return fields.flatMap((field) => {
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null];
    const lengths = [JSON.stringify(from), JSON.stringify(to)] as const;
    if (lengths[0] === lengths[1]) return [];
    const isLong = lengths.some(({ length }) => length > maxValueLength);
    return [isLong ? { field } : { field, before: from, after: to }];
  });
}

/** Returns the address of a webhook without its query and fragment, which may have a secret. */
export function addressWithoutQuery(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href;
}

/** A change for the audit log. */
export interface Change {
  readonly action: AuditAction;
  readonly target: { readonly id: string; readonly name: string | null };
  readonly changes: readonly AuditFieldChange[];
}

/**
 * Changes that are recorded beyond the quota. They take a permission away or decide an action, so a full log must not
 * prevent them; a legal hold protects what there is. Other quotas bound their number: none can be repeated without a change that needs room. People sign in
 * to see what fills the log.
 */
const alwaysRecorded: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'key.revoked',
  'agent.revoked',
  'webhook.disabled',
  'held_action.partially_approved',
  'held_action.approved',
  'held_action.denied',
  'held_action.withdrawn',
  'grant.revoked',
  'legal_hold.created',
  'legal_hold.released',
  'sign_in.created',
  'sign_in.ended',
]);

/**
 * Adds a change by the author of a request to the audit log, in the transaction of the change.
 *
 * @param quotas - quotas of the deployment
 * @throws QuotaError 429 when the log is full; not for a change that takes a permission away.
 */
export async function recordChange(
  quotas: DeploymentQuotas,
  db: Database,
  tenantId: number,
  actor: RequestActor,
  change: Change,
): Promise<void> {
  if (!alwaysRecorded.has(change.action)) {
    await requireCountedRoom(db, tenantId, { auditEntries: 1 }, Date.now(), quotas);
  }
  await recordUnlimited(db, tenantId, actor, change);
}

/**
 * Adds a change by an operator or the server itself to the audit log, in the transaction of the change. It is recorded
 * also when the log is full.
 */
export async function recordUnlimited(
  db: Database,
  tenantId: number,
  actor: AuditActor,
  { action, target, changes }: Change,
): Promise<void> {
  const nowMs = Date.now();
  await insertAuditEntry(db, {
    tenant_id: tenantId,
    id: newIdentifierAt('aud', nowMs),
    at_ms: nowMs,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    principal: actor.principal,
    action,
    target_id: target.id,
    target_name: target.name,
    changes: JSON.stringify(changes),
  });
}

/** Returns the entry of the audit log for a key that was created or revoked. It never has the key or its digest. */
export function keyChange(action: 'key.created' | 'key.revoked', key: StoredKey): Change {
  const target = { id: `key_${key.id}`, name: key.name };
  if (action === 'key.revoked') {
    return { action, target, changes: [{ field: 'status', before: 'active', after: 'revoked' }] };
  }
  return {
    action,
    target,
    changes: fieldChanges(undefined, { ...key, expiresAt: expiryOf(key) }, [
      'kind',
      'scopes',
      'agents',
      'shared',
      'requiresIdentity',
      'expiresAt',
    ]),
  };
}

/** Returns the entry of the audit log for a key that another one replaces. */
export function rotationChange(id: string, successor: StoredKey): Change {
  return {
    action: 'key.rotated',
    target: { id: `key_${id}`, name: successor.name },
    changes: fieldChanges(undefined, { replacedBy: `key_${successor.id}`, expiresAt: expiryOf(successor) }, [
      'replacedBy',
      'expiresAt',
    ]),
  };
}

function expiryOf({ expiresMs }: StoredKey): string | null {
  return expiresMs === null ? null : new Date(expiresMs).toISOString();
}

/** A person who signs in. */
interface Person {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
}

/** Returns the author of a sign-in, who is the person. */
export function personActor({ userId, name }: Person): RequestActor {
  return { kind: 'person', id: userId, name, principal: name };
}

/** Returns the entry of the audit log for a person who signs in. */
export function signedInChange({ userId, name, role }: Person): Change {
  const changes: readonly AuditFieldChange[] = [{ field: 'role', before: null, after: role }];
  return { action: 'sign_in.created', target: { id: userId, name }, changes };
}

/** Returns the entry of the audit log for a sign-in that the person or an administrator ends. */
export function signedOutChange({ user_id: id, name }: SignInRow): Change {
  return { action: 'sign_in.ended', target: { id, name }, changes: [] };
}

/** An admitted request that changes something. */
interface ChangingRequest extends AuthoredRequest {
  readonly caller: Pick<Caller, 'tenantId' | 'id' | 'keyName' | 'user'>;
}

/**
 * Adds a change by the author of a request to the audit log, in the transaction of the change.
 *
 * @throws QuotaError 429 when the log is full; ApiError `VALIDATION_ERROR` for a principal that is too long.
 */
export function auditRequest(
  parts: AuditParts,
  db: Database,
  request: ChangingRequest,
  change: Change,
): Promise<void> {
  return recordChange(parts.quotas, db, request.caller.tenantId, actorOf(parts, request), change);
}
