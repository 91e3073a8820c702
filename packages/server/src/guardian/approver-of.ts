import type { Approver } from '@actlog/policy';
import type { Caller } from '../keys/key-ring.ts';
import { validationError } from '../lib/api-error.ts';
import type { Services } from '../services.ts';

/** Maximum length of a principal, in characters. */
const maxLength = 200;

/** A request to decide an action. */
export interface DecidingRequest {
  readonly caller: Pick<Caller, 'keyId'>;
  /** Returns a request header, or `undefined` if there is none. */
  header(name: string): string | undefined;
}

/**
 * Returns the approver who sends a request: the key, and the person that a trusted proxy names, if the server is
 * configured for one.
 *
 * @throws ApiError `VALIDATION_ERROR` for a name that is too long.
 */
export function approverOf(
  { principalHeader }: Pick<Services, 'principalHeader'>,
  { caller, header }: DecidingRequest,
): Approver {
  const principal = principalHeader === undefined ? '' : (header(principalHeader)?.trim() ?? '');
  if (principal.length > maxLength) {
    const path = `headers.${principalHeader}`;
    throw validationError(path, 'too_big', `must have at most ${maxLength} characters`);
  }
  return { key: `key_${caller.keyId}`, principal: principal === '' ? null : principal };
}
