import type { ApprovalGrantPage } from '@actlog/protocol';
import { useConnection } from '../../connection.ts';
import { useList } from '../../hooks/use-list.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { hasKnownOwner } from '../../identity.ts';
import { GrantList } from '../grants/grant-list.tsx';
import { HeldList } from './held-list.tsx';

/** Held actions of a session, and what approvers have granted it; no heading if there are none. */
export function HeldActions({ sessionId }: { sessionId: string }) {
  const { client } = useConnection();
  const shown = useList(
    sessionId,
    (page, signal) => client.guardian.pendingActions.list({ sessionId, ...page }, { signal }),
    { everyMs: 5000, nameOf: ({ id }) => id, stays: true },
  );
  return (
    <>
      {shown.items !== undefined && shown.items.length > 0 && <h2>Waiting for approval</h2>}
      <HeldList shown={shown} />
      <SessionGrants sessionId={sessionId} />
    </>
  );
}

/** Grants for later actions of a session. Renders nothing if there are none, or for another service. */
function SessionGrants({ sessionId }: { sessionId: string }) {
  const { client, identity } = useConnection();
  const { data } = useLoaded(
    `session grants ${sessionId}`,
    async (signal) => {
      if (!hasKnownOwner(identity)) return false;
      const { items } = await client.request<ApprovalGrantPage>('GET', '/server/v1/grants', {
        query: { sessionId, limit: 1 },
        signal,
      });
      return items.length > 0;
    },
    { everyMs: 5000 },
  );
  if (data !== true) return null;
  return (
    <>
      <h2>Granted for this session</h2>
      <GrantList sessionId={sessionId} />
    </>
  );
}
