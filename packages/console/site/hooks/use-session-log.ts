import { useEffect, useMemo, useReducer } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { SessionLog } from '../events/session-log.ts';

/** Number of events that are read at once. A session with more is read further when the user goes there. */
export const firstEvents = 2000;

/**
 * Reads the first events of a session, and new ones when it grows.
 *
 * @param eventCount - number of events in the session
 */
export function useSessionLog(id: string, eventCount: number): SessionLog {
  const { client } = useConnection();
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const log = useMemo(() => new SessionLog(client, id, redraw), [client, id]);
  useEffect(() => {
    void log.readUntil((_, count) => count >= firstEvents);
    return () => log.close();
  }, [log]);
  useEffect(() => {
    if (log.events.length > 0 && eventCount > log.events.length) void log.readNew();
  }, [log, eventCount]);
  return log;
}
