import type { Caller } from '../keys/caller.ts';

/** Fields of a log line that identify a caller. */
export interface CallerFields {
  readonly tenantId: number;
  readonly keyId?: string;
  readonly userId?: string;
}

/** Returns the fields of a log line for a caller: ids only, never a name, which is personal data. */
export function callerFields({ tenantId, id, keyId }: Caller): CallerFields {
  return keyId === undefined ? { tenantId, userId: id } : { tenantId, keyId };
}
