import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';

/** Loaded data with its state. */
export interface Loaded<Data> {
  /** Data of the last response; kept while a newer one is requested. */
  readonly data: Data | undefined;
  readonly error: unknown;
  /** Reloads the data. */
  reload(): void;
}

/** Options for reloading while the current data stays visible. */
export interface LoadOptions {
  /** Reload interval while the page is visible, in milliseconds; no automatic reload by default. */
  readonly everyMs?: number | undefined;
  /** `true` to reload also while the page is not visible. */
  readonly whileHidden?: boolean | undefined;
  /** Reloads when this value changes, after any running request. */
  readonly version?: unknown;
}

/**
 * Loads data, and reloads it when `key` changes, the user signs in again or `reload` is called. A response that is
 * superseded by a newer request is dropped, and its request is aborted.
 */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => PromiseLike<Data>,
  { everyMs, version, whileHidden = false }: LoadOptions = {},
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
      // The shown data stays, marked as outdated.
      (error) => settle((before) => ({ ...(before.key === key ? before : { key }), error })),
    );
  }, [key, client]);

  useEffect(() => {
    ask();
    return () => asking.current?.abort();
  }, [ask]);

  useEffect(() => {
    // Data that changes faster than the service responds would otherwise never be shown.
    if (asking.current === undefined && asked.current !== version) ask();
  }, [ask, version]);

  useEffect(() => {
    if (everyMs === undefined) return;
    // A slow service is waited for: aborting each time would never yield a response.
    const refresh = () =>
      (whileHidden || document.visibilityState === 'visible') && asking.current === undefined && ask();
    const timer = setInterval(refresh, everyMs);
    // Returning to the tab reloads data that may be outdated.
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
    };
  }, [ask, everyMs, whileHidden]);

  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload: ask };
}
