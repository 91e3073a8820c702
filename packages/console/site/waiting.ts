import { createContext } from 'preact';
import { useConnection } from './connection.ts';
import { useLoaded } from './hooks/use-loaded.ts';

/** Context function that recounts pending actions, so that a decided action is no longer counted. */
export const CountWaitingContext = createContext(() => {});

/** Returns the number of pending actions for the navigation; more than a page is "50+". */
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
