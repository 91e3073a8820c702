import type { AuditActor } from '@actlog/protocol';
import type { Caller } from '../keys/caller.ts';
import { validationError } from '../lib/api-error.ts';
import type { Services } from '../services.ts';

/** Maximum length of a principal, in characters. */
const maxPrincipalLength = 200;

/** A request whose author is wanted. */
export interface AuthoredRequest {
  readonly caller: Pick<Caller, 'id' | 'keyName' | 'user'>;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
}

/** Author of a request: a person who is signed in, or a key, with the person whom a trusted proxy names. */
export interface RequestActor extends AuditActor {
  readonly kind: 'key' | 'person';
  /** `key_…` for a key, `usr_…` for a person. */
  readonly id: string;
}

/** Author of changes by the server's command and its host program. */
export const operator: AuditActor = { kind: 'operator', id: null, name: null, principal: null };

/** Author of changes that the server itself makes. */
export const serverItself: AuditActor = { kind: 'server', id: null, name: null, principal: null };

/**
 * Returns the author of a request. Approvals, events and the audit log name the same author.
 *
 * @param settings - `principalHeader`: header in which a trusted proxy names the person; the gate has removed it from the
 *   requests of all others
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function actorOf(
  { principalHeader }: Pick<Services, 'principalHeader'>,
  { caller: { id, keyName, user }, header }: AuthoredRequest,
): RequestActor {
  if (user) return { kind: 'person', id, name: user.name, principal: user.name };
  const principal = principalHeader === undefined ? '' : (header(principalHeader)?.trim() ?? '');
  if (principal.length > maxPrincipalLength) {
    const path = `headers.${principalHeader}`;
    throw validationError(path, 'too_big', `must have at most ${maxPrincipalLength} characters`);
  }
  return { kind: 'key', id, name: keyName ?? null, principal: principal === '' ? null : principal };
}
