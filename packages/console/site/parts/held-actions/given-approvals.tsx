import type { PendingAction } from '@actlog/client';
import { actorName } from '../actor-name.ts';
import { Time } from '../time.tsx';

/** Approvals of an action that needs more than one, or only certain approvers. Renders nothing for others. */
export function GivenApprovals({ action: { approvals, status } }: { action: PendingAction }) {
  if (approvals === undefined) return null;
  const { required, given, approverKeys, notRequester } = approvals;
  if (required === 1 && approverKeys === null && !notRequester) return null;
  return (
    <>
      <p>
        {required > 1 && (
          <>
            <strong>
              {given.length} of {required} approvals
            </strong>
            {status === 'pending' && ' so far. One denial denies. '}
          </>
        )}
        {approverKeys !== null && <span class="faint">Only {approverKeys.join(', ')} can approve. </span>}
        {notRequester && <span class="faint">The requester cannot approve.</span>}
      </p>
      {required > 1 && given.length > 0 && (
        <ol class="approvals">
          {given.map((approval) => (
            <li key={approval.approvedBy}>
              <bdi translate={false}>{actorName(approval.approvedBy, approval.principal)}</bdi>{' '}
              <Time at={approval.approvedAt} />
              {approval.comment !== null && <>: “{approval.comment}”</>}
              {approval.grant !== null && <span class="faint"> (also for later actions)</span>}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
