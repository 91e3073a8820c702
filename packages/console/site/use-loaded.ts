import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

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
  /** Whenever this changes. */
  readonly version?: unknown;
}

/**
 * Asks for something, and again whenever `key` changes or `reload` is called. An answer that comes after a newer
 * question is dropped, and the question is aborted.
 *
 */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => PromiseLike<Data>,
  { everyMs, version }: LoadOptions = {},
): Loaded<Data> {
  const [state, setState] = useState<{ key: string; data?: Data; error?: unknown }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const asking = useRef<AbortController>(undefined);

  const ask = useCallback(() => {
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    const { signal } = controller;
    latest.current(signal).then(
      (data) => signal.aborted || setState({ key, data }),
      // What was shown stays, with the word that it is old.
      (error) =>
        signal.aborted || setState((before) => ({ ...(before.key === key ? before : { key }), error })),
    );
  }, [key]);

  useEffect(() => {
    ask();
    return () => asking.current?.abort();
  }, [ask, version]);

  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && ask(), everyMs);
    return () => clearInterval(timer);
  }, [ask, everyMs]);

  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload: ask };
}
