import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from './connection.ts';

/** Something that is asked for, and what has come of it. */
export interface Loaded<Data> {
  /** The last answer; it stays while a newer one is asked for. */
  readonly data: Data | undefined;
  readonly error: unknown;
  /** Asks again. */
  reload(): void;
}

/** When something is asked for again, what is shown staying meanwhile. */
export interface LoadOptions {
  /** By itself, this often, while the page is seen; never by default. */
  readonly everyMs?: number | undefined;
  /** Whenever this changes, once the answer that is waited for has come. */
  readonly version?: unknown;
}

/**
 * Asks for something, and again whenever `key` changes, the person signs in again or `reload` is called. An answer that comes after a newer
 * question is dropped, and the question is aborted.
 */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => PromiseLike<Data>,
  { everyMs, version }: LoadOptions = {},
): Loaded<Data> {
  const { client } = useConnection();
  const [state, setState] = useState<{ key: string; data?: Data; error?: unknown }>({ key });
  const latest = useRef({ load, version });
  latest.current = { load, version };
  const asked = useRef(version);
  const asking = useRef<AbortController>(undefined);

  const ask = useCallback(() => {
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    const { signal } = controller;
    asked.current = latest.current.version;
    const settle = (next: typeof state | ((before: typeof state) => typeof state)) => {
      if (signal.aborted) return;
      asking.current = undefined;
      setState(next);
      if (asked.current !== latest.current.version) ask();
    };
    latest.current.load(signal).then(
      (data) => settle({ key, data }),
      // What was shown stays, with the word that it is old.
      (error) => settle((before) => ({ ...(before.key === key ? before : { key }), error })),
    );
  }, [key, client]);

  useEffect(() => {
    ask();
    return () => asking.current?.abort();
  }, [ask]);

  useEffect(() => {
    // What changes faster than the service answers would else never be shown.
    if (asking.current === undefined && asked.current !== version) ask();
  }, [ask, version]);

  useEffect(() => {
    if (everyMs === undefined) return;
    // A slow service is waited for: asking it anew each time would never bring an answer.
    const refresh = () => document.visibilityState === 'visible' && asking.current === undefined && ask();
    const timer = setInterval(refresh, everyMs);
    // Who comes back to the tab does not look at what was there when they left.
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [ask, everyMs]);

  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload: ask };
}
