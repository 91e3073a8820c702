import { hash } from 'node:crypto';
import { approvalSubject } from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';

/** Returns the digest of an action that an approval is bound to: everything that the approver sees, and the session. */
export function actionDigest(body: PolicyCheck): string {
  return hash('sha256', approvalSubject(body));
}
