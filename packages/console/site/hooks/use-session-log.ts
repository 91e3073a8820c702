import { useEffect, useReducer, useState } from 'preact/hooks';
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
  const [log, setLog] = useState(() => new SessionLog(client, id, redraw));
  useEffect(() => {
    const next = new SessionLog(client, id, redraw);
    setLog(next);
    void next.readUntil((_, count) => count >= firstEvents);
    return () => next.close();
  }, [client, id]);
  useEffect(() => {
    if (log.events.length > 0 && eventCount > log.events.length) void log.readNew();
  }, [log, eventCount]);
  return log;
}
