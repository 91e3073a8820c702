import { createContext } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from './connection.ts';
import { noticeState, notifyWaiting } from './desktop-notice.ts';
import { useLoaded } from './hooks/use-loaded.ts';

/** Context function that recounts pending actions, so that a decided action is no longer counted. */
export const CountWaitingContext = createContext(() => {});

/** Returns `true` while desktop notifications are on. */
function useNotices(): boolean {
  const [isOn, setOn] = useState(() => noticeState() === 'on');
  useEffect(() => {
    const update = () => setOn(noticeState() === 'on');
    addEventListener('actlog-notices', update);
    return () => removeEventListener('actlog-notices', update);
  }, []);
  return isOn;
}

/**
 * Returns the number of pending actions for the navigation; more than a page is "50+". Notifies the user of new ones,
 * if notifications are on.
 */
export function useWaiting(): { readonly waiting: string; readonly countWaiting: () => void } {
  const { client } = useConnection();
  const { data, reload } = useLoaded(
    'waiting',
    (signal) => client.guardian.pendingActions.list({}, { signal }),
    { everyMs: 5000, whileHidden: useNotices() },
  );
  const known = useRef<ReadonlySet<string>>(undefined);
  const count = data?.items.length ?? 0;
  const waiting = count === 0 ? '' : `${count}${data?.hasNextPage() ? '+' : ''}`;
  useEffect(() => {
    if (data === undefined) return;
    const ids = new Set(data.items.map(({ id }) => id));
    const { current: before } = known;
    known.current = ids;
    // Those that waited when the page was opened are in view.
    if (before !== undefined && [...ids].some((id) => !before.has(id))) notifyWaiting(waiting);
  }, [data]);
  return { waiting, countWaiting: reload };
}
