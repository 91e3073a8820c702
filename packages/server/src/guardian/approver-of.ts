import type { Approver } from '@actlog/policy';
import type { Caller } from '../keys/key-ring.ts';

/** Returns the approver who sends a request. */
export function approverOf({ keyId }: Caller): Approver {
  return { key: `key_${keyId}`, principal: null };
}
