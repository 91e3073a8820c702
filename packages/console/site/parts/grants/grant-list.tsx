import { revokeGrant } from '@actlog/client/server';
import type { ApprovalGrant, ApprovalGrantPage } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { serverPages, useList } from '../../hooks/use-list.ts';
import { may } from '../../identity.ts';
import { href } from '../../route.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Problem } from '../problem.tsx';
import { ListTable } from '../table.tsx';
import { actorName, Time } from '../time.tsx';

/** Table of the grants for later actions, newest first, with a button to revoke each. */
export function GrantList({ sessionId }: { sessionId?: string }) {
  const { client } = useConnection();
  const [news, setNews] = useState('');
  const shown = useList<ApprovalGrant>(
    `grants ${sessionId ?? ''}`,
    serverPages<ApprovalGrantPage>(client, '/server/v1/grants', { sessionId }),
    { everyMs: 5000, nameOf: ({ id }) => id },
  );
  return (
    <>
      <p role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      <ListTable
        shown={shown}
        caption="Grants for later actions, newest first"
        columns={['Tool', 'Allows', 'Agent', 'Session', 'Used', 'Ends', 'Granted by', 'Status']}
        empty="No approver has granted later actions."
        row={(grant) => (
          <GrantRow
            key={grant.id}
            grant={grant}
            onRevoked={() => {
              setNews(`Later calls of ${grant.toolName} by ${grant.agentId} need an approval again.`);
              shown.reload();
            }}
          />
        )}
      />
    </>
  );
}

const statuses: Readonly<Record<ApprovalGrant['status'], string>> = {
  active: 'active',
  used_up: 'used up',
  policy_changed: 'ended: policy changed',
  expired: 'expired',
  revoked: 'revoked',
};

/** Row of a grant; an active one can be revoked. */
function GrantRow({ grant, onRevoked }: { grant: ApprovalGrant; onRevoked: () => void }) {
  const { client, identity } = useConnection();
  const revoke = useAction(async () => {
    await revokeGrant(client, grant.id);
    onRevoked();
  });
  const isActive = grant.status === 'active';
  return (
    <tr>
      <th scope="row">
        <span class="whole">{grant.toolName}</span>
      </th>
      <td>{grant.for === 'action' ? 'the same action' : 'any call'}</td>
      <td>
        <span class="whole">{grant.agentId}</span>
        {grant.principal !== null && (
          <>
            {' '}
            for <bdi class="whole">{grant.principal}</bdi>
          </>
        )}
      </td>
      <td>
        <a class="whole" href={href(['sessions', grant.sessionId])}>
          {grant.sessionId}
        </a>
      </td>
      <td class="number">
        {grant.uses}
        {grant.maxUses !== null && ` of ${grant.maxUses}`}
      </td>
      <td>
        <Time at={grant.expiresAt} />
      </td>
      <td>
        <span class="whole">{actorName(grant.grantedBy, grant.grantedByPrincipal)}</span>
      </td>
      <td>
        <span class={`badge${isActive ? ' good' : ''}`}>{statuses[grant.status]}</span>{' '}
        {isActive && may(identity, 'decide') && (
          <ConfirmButton
            label="Revoke"
            question="Revoke it?"
            isBusy={revoke.isBusy}
            onConfirm={() => revoke.run()}
          />
        )}
        <Problem error={revoke.error} />
      </td>
    </tr>
  );
}
