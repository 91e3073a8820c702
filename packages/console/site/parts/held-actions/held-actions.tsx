import { useConnection } from '../../connection.ts';
import { useList } from '../../hooks/use-list.ts';
import { SessionGrants } from '../grants/session-grants.tsx';
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
