import { Actlog } from '@actlog/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { noteTime } from './clock.ts';
import type { Identity } from './identity.ts';

/** The signed-in person's way to the service. */
export interface Connection {
  readonly client: Actlog;
  readonly identity: Identity;
  signOut(): void;
}

export const ConnectionContext = createContext<Connection | undefined>(undefined);

/** The connection of the signed-in person; only what is drawn after the sign-in may ask for it. */
export function useConnection(): Connection {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error('Nobody is signed in.');
  return connection;
}

/**
 * A client of the server that sent this page. The page is the tenant's own: its key stands in no code, and the person
 * who typed it is the one who may use it.
 *
 * @param onRefused - called when the service no longer takes the key
 */
export function createClient(apiKey: string, onRefused: () => void): Actlog {
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
      // What is kept for the person until they sign in again does not go on asking.
      if (refusal !== undefined) return refusal.clone();
      const response = await fetch(url, init);
      noteTime(response);
      if (response.status === 401) {
        refusal = response.clone();
        onRefused();
      }
      return response;
    },
  });
}
