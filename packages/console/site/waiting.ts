import { createContext } from 'preact';
import { useConnection } from './connection.ts';
import { useLoaded } from './use-loaded.ts';

/** Has the actions that wait counted anew: who has decided about one is not told that it waits. */
export const CountWaitingContext = createContext(() => {});

/** How many actions wait, as the navigation shows it: more than a page of them is "50+". */
export function useWaiting(): { readonly waiting: string; readonly countWaiting: () => void } {
  const { client } = useConnection();
  const { data, reload } = useLoaded(
    'waiting',
    (signal) => client.guardian.pendingActions.list({}, { signal }),
    { everyMs: 5000 },
  );
  const count = data?.items.length ?? 0;
  return { waiting: count === 0 ? '' : `${count}${data?.hasNextPage() ? '+' : ''}`, countWaiting: reload };
}
