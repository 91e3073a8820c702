import { Actlog } from '@actlog/client';
import { headers } from '@actlog/protocol';
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { noteTime } from './clock.ts';
import { fetchOnce } from './early-responses.ts';
import type { Identity } from './identity.ts';

/** Connection of the signed-in user to the service. */
export interface Connection {
  readonly client: Actlog;
  readonly identity: Identity;
  /** Signs the user out; undefined if the page cannot, because a proxy signs the user in. */
  readonly signOut: (() => void) | undefined;
}

export const ConnectionContext = createContext<Connection | undefined>(undefined);

/** Returns the connection of the signed-in user; only for components below the sign-in. */
export function useConnection(): Connection {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error('Nobody is signed in.');
  return connection;
}

/**
 * Creates a client of the server that sent this page. The key is not part of any code: the user types it, and is the
 * one who may use it.
 *
 * @param onRefused - called when the service rejects the key
 */
export function createClient(apiKey: string, onRefused: () => void): Actlog {
  return clientWith(apiKey, (init) => init, onRefused);
}

/** Client of a person whom a cookie or a proxy signs in. */
export interface UserClient {
  readonly client: Actlog;
  /** Sets the CSRF token that all later requests contain. */
  setCsrfToken(token: string): void;
}

/** The client requires a key; its header is removed from each request, so that the browser's cookie applies. */
const noKey = 'al_live_none';

/**
 * Creates a client for a person whom a cookie or a proxy signs in.
 *
 * @param onRefused - called when the service rejects the person
 */
export function createUserClient(onRefused: () => void): UserClient {
  let csrfToken: string | undefined;
  const withToken = (init: RequestInit | undefined) => {
    const headers = new Headers(init?.headers);
    headers.delete('authorization');
    if (csrfToken !== undefined) headers.set('x-actlog-csrf', csrfToken);
    return { ...init, headers };
  };
  return {
    client: clientWith(noKey, withToken, onRefused),
    setCsrfToken: (token) => {
      csrfToken = token;
    },
  };
}

/** Times since which the history is missing in responses of the current page, by the path of the request. */
const missing = new Map<string, string>();

const changes = new EventTarget();

/** Stores whether a response may lack records because the server cannot reach its history. */
function trackHistory(response: Response): void {
  const { pathname } = new URL(response.url || location.href, location.href);
  const since = response.headers.get(headers.historyMissingSince);
  if (since !== null) missing.set(pathname, since);
  else if (response.ok) missing.delete(pathname);
  changes.dispatchEvent(new Event('change'));
}

/** Returns the time since which the page of an address may lack old records; `undefined` if it has all. */
export function useMissingHistory(hash: string): Date | undefined {
  const [since, setSince] = useState<string>();
  useEffect(() => {
    const show = () => setSince([...missing.values()].sort()[0]);
    changes.addEventListener('change', show);
    return () => {
      changes.removeEventListener('change', show);
      // Each page sends other requests.
      missing.clear();
      setSince(undefined);
    };
  }, [hash]);
  return since === undefined ? undefined : new Date(since);
}

function clientWith(
  apiKey: string,
  withCredentials: (init: RequestInit | undefined) => RequestInit | undefined,
  onRefused: () => void,
): Actlog {
  let refusal: Response | undefined;
  return new Actlog({
    apiKey,
    baseURL: new URL('..', document.baseURI.split('#')[0]),
    dangerouslyExposeApiKeyInBrowser: true,
    allowInsecureHttp: true,
    maxRetries: 2,
    logLevel: 'off',
    sdk: 'actlog-console',
    fetch: async (url, init) => {
      // Hidden components that wait for a new sign-in must not keep sending requests.
      if (refusal !== undefined) return refusal.clone();
      const response = await fetchOnce(url, withCredentials(init));
      noteTime(response);
      trackHistory(response);
      if (response.status === 401) {
        refusal = response.clone();
        onRefused();
      }
      return response;
    },
  });
}
