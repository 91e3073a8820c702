import type { ApprovalGrant, ApprovalGrantPage } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useList } from '../../hooks/use-list.ts';
import { ListTable } from '../list-table.tsx';
import { GrantRow } from './grant-row.tsx';

/** Table of the grants for later actions, newest first, with a button to revoke each. */
export function GrantList({ sessionId }: { sessionId?: string }) {
  const { client } = useConnection();
  const [news, setNews] = useState('');
  const shown = useList<ApprovalGrant>(
    `grants ${sessionId ?? ''}`,
    async (page, signal) => {
      const data = await client.request<ApprovalGrantPage>('GET', '/server/v1/grants', {
        query: { sessionId, ...page },
        signal,
      });
      return { ...data, hasNextPage: () => data.nextCursor !== null };
    },
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
