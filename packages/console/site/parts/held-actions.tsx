import type { PendingAction } from '@actlog/client';
import { useConnection } from '../connection.ts';
import { useList } from '../use-list.ts';
import { HeldList } from './held-list.tsx';
import { Problem } from './problem.tsx';

/** What of a session waits for a person; no heading where nothing does. */
export function HeldActions({ sessionId }: { sessionId: string }) {
  const { client } = useConnection();
  const {
    items = [],
    error,
    hasMore,
    more,
    reload,
  } = useList(
    sessionId,
    (page, signal) => client.guardian.pendingActions.list({ sessionId, ...page }, { signal }),
    { everyMs: 5000, nameOf: ({ id }: PendingAction) => id },
  );
  return (
    <>
      {items.length > 0 && <h2>Waiting for approval</h2>}
      <Problem error={error} />
      <HeldList items={items} onEnd={reload} />
      {hasMore && (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}
