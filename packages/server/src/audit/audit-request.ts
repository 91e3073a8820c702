import type { Caller } from '../keys/caller.ts';
import type { Services } from '../services.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuthoredRequest, actorOf } from './actor.ts';
import { type Change, recordChange } from './record-change.ts';

/** An admitted request that changes something. */
export interface ChangingRequest extends AuthoredRequest {
  readonly caller: Pick<Caller, 'tenantId' | 'id' | 'keyName' | 'user'>;
}

/**
 * Adds a change by the author of a request to the audit log, in the transaction of the change.
 *
 * @throws QuotaError 429 when the log is full; ApiError `VALIDATION_ERROR` for a principal that is too long.
 */
export function auditRequest(
  services: Pick<Services, 'quotas' | 'principalHeader'>,
  db: Database,
  request: ChangingRequest,
  change: Change,
): Promise<void> {
  return recordChange(services.quotas, db, request.caller.tenantId, actorOf(services, request), change);
}
