import { useConnection } from '../connection.ts';
import { useList } from '../use-list.ts';
import { HeldList } from './held-list.tsx';

/** What of a session waits for a person; no heading where nothing does. */
export function HeldActions({ sessionId }: { sessionId: string }) {
  const { client } = useConnection();
  const { items = [], reload } = useList(
    sessionId,
    (page, signal) => client.guardian.pendingActions.list({ sessionId, ...page }, { signal }),
    { everyMs: 5000 },
  );
  return (
    <>
      {items.length > 0 && <h2>Waiting for approval</h2>}
      <HeldList items={items} onEnd={reload} />
    </>
  );
}
