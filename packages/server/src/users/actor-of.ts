import type { Caller } from '../keys/caller.ts';
import { validationError } from '../lib/api-error.ts';

/** Maximum length of a principal, in characters. */
const maxLength = 200;

/** The one who makes a request, as decisions, events and records of changes name it. */
export interface Actor {
  /** `key_…` for a key, `usr_…` for a person who is signed in. */
  readonly id: string;
  /** Name of the person, where the server knows it; `null` for a key whose user is unknown. */
  readonly principal: string | null;
}

/** A request whose actor is wanted. */
export interface ActingRequest {
  readonly caller: Pick<Caller, 'id' | 'user'>;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
}

/**
 * Returns the actor of a request: the person who is signed in, or the key, with the person that a trusted proxy names.
 *
 * @param settings - `principalHeader`: header in which a trusted proxy names the person; the gate has removed it from the
 *   requests of all others
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function actorOf(
  { principalHeader }: { readonly principalHeader: string | undefined },
  { caller, header }: ActingRequest,
): Actor {
  if (caller.user) return { id: caller.id, principal: caller.user.name };
  const principal = principalHeader === undefined ? '' : (header(principalHeader)?.trim() ?? '');
  if (principal.length > maxLength) {
    const path = `headers.${principalHeader}`;
    throw validationError(path, 'too_big', `must have at most ${maxLength} characters`);
  }
  return { id: caller.id, principal: principal === '' ? null : principal };
}
