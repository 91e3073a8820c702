import { useConnection } from '../../connection.ts';
import { useList } from '../../hooks/use-list.ts';
import { HeldList } from './held-list.tsx';

/** Held actions of a session; no heading if there are none. */
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
    </>
  );
}
