import type { ApprovalGrantPage } from '@actlog/protocol';
import { useConnection } from '../../connection.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { hasKnownOwner } from '../../identity.ts';
import { GrantList } from './grant-list.tsx';

/** Grants for later actions of a session. Renders nothing if there are none, or for another service. */
export function SessionGrants({ sessionId }: { sessionId: string }) {
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
