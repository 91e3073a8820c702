import type { Decide } from '@actlog/protocol';
import { invalidRequest, type Refusal } from '../requests/refusal.ts';
import { type Approver, isSameApprover } from './approver.ts';
import type { DecidableAction } from './decidable-action.ts';

/** Returns the refusal of an approval by an approver who may not approve the action; undefined if it is permitted. */
export function approvalRefusal(
  { approvals: { approverKeys, notRequester }, requestedBy, principal }: DecidableAction,
  approver: Approver,
): Refusal | undefined {
  if (approverKeys && !approverKeys.includes(approver.key)) {
    return forbidden(
      'approver_keys',
      'The policy lets only certain keys approve this action. Use one of them.',
    );
  }
  if (!notRequester) return undefined;
  if (requestedBy !== null && isSameApprover({ key: requestedBy, principal }, approver)) {
    return forbidden('requester', 'The requester of an action cannot approve it. Ask another approver.');
  }
  // Otherwise the requester could approve with a second key.
  if (principal !== null && approver.principal === null) {
    return forbidden(
      'unknown_approver',
      'The policy does not let the requester approve, and the server does not know who uses this key. Approve through the proxy that names the person.',
    );
  }
  return undefined;
}

/** Returns the refusal of a grant for later actions; undefined if it is permitted, or not chosen. */
export function grantRefusal(
  { sessionId, singleUse }: DecidableAction,
  decision: Decide['decision'],
  grant: Decide['grant'],
): Refusal | undefined {
  if (grant === undefined) return undefined;
  if (decision === 'deny') return invalidRequest('grant', 'contradiction', 'is allowed only with approve');
  if (sessionId === null) {
    return invalidRequest('grant', 'no_session', 'needs an action with a session; this action has none');
  }
  if (singleUse) {
    return invalidRequest(
      'grant',
      'single_use',
      'contradicts the policy, which requires an approval for each call (singleUse); leave it out',
    );
  }
  return undefined;
}

function forbidden(code: string, message: string): Refusal {
  return { code: 'PERMISSION_DENIED', message, details: [{ path: 'decision', code, message }] };
}
