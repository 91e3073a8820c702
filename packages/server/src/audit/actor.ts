import type { AuditActor } from '@actlog/protocol';
import type { Caller } from '../keys/key-ring.ts';
import { validationError } from '../lib/api-error.ts';
import type { Services } from '../services.ts';

/** Maximum length of a principal, in characters. */
const maxPrincipalLength = 200;

/** A request whose author is wanted. */
export interface AuthoredRequest {
  readonly caller: Pick<Caller, 'keyId' | 'keyName'>;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
}

/** Author of a request: a key, with the person whom a trusted proxy names. */
export interface RequestActor extends AuditActor {
  readonly kind: 'key';
  readonly id: string;
}

/** Author of changes by the server's command and its host program. */
export const operator: AuditActor = { kind: 'operator', id: null, name: null, principal: null };

/** Author of changes that the server itself makes. */
export const serverItself: AuditActor = { kind: 'server', id: null, name: null, principal: null };

/**
 * Returns the author of a request: the key, and the person that a trusted proxy names, if the server is configured for
 * one. Approvals and the audit log name the same author.
 *
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function actorOf(
  { principalHeader }: Pick<Services, 'principalHeader'>,
  { caller, header }: AuthoredRequest,
): RequestActor {
  const principal = principalHeader === undefined ? '' : (header(principalHeader)?.trim() ?? '');
  if (principal.length > maxPrincipalLength) {
    const path = `headers.${principalHeader}`;
    throw validationError(path, 'too_big', `must have at most ${maxPrincipalLength} characters`);
  }
  return {
    kind: 'key',
    id: `key_${caller.keyId}`,
    name: caller.keyName,
    principal: principal === '' ? null : principal,
  };
}
