import { AuthenticationError, InvalidArgumentError } from '@actlog/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { dropApiKey, keepApiKey, keptApiKey, takeLinkKey } from './api-key.ts';
import { type Connection, ConnectionContext, createClient } from './connection.ts';
import { Frame } from './frame.tsx';
import { readIdentity } from './identity.ts';
import { SignIn } from './sign-in.tsx';

type State =
  | { readonly step: 'signing in' }
  | { readonly step: 'signed out'; readonly error?: unknown }
  | { readonly step: 'signed in'; readonly connection: Connection };

/** Whether the key itself is at fault, and not the service or the way to it. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthenticationError || error instanceof InvalidArgumentError;
}

/** The whole page: the sign-in, or what the signed-in person may see. */
export function App() {
  const [state, setState] = useState<State>({ step: 'signing in' });
  // Answers to an earlier key say nothing about the one that is signed in now.
  const latest = useRef<string>(undefined);

  const signOut = useCallback((error?: unknown) => {
    latest.current = undefined;
    dropApiKey();
    setState({ step: 'signed out', error });
  }, []);

  const signIn = useCallback(
    async (apiKey: string) => {
      latest.current = apiKey;
      let isSignedIn = false;
      try {
        const client = createClient(apiKey, () => {
          if (isSignedIn && latest.current === apiKey) signOut(new Error('The API key is no longer valid.'));
        });
        const identity = await readIdentity(client);
        if (latest.current !== apiKey) return;
        isSignedIn = true;
        keepApiKey(apiKey);
        setState({ step: 'signed in', connection: { client, identity, signOut: () => signOut() } });
      } catch (error) {
        if (latest.current !== apiKey) return;
        if (isRefusal(error)) return signOut(error);
        keepApiKey(apiKey);
        setState({ step: 'signed out', error });
      }
    },
    [signOut],
  );

  useEffect(() => {
    const begin = (apiKey: string) => {
      setState({ step: 'signing in' });
      void signIn(apiKey);
    };
    const follow = () => {
      const given = takeLinkKey();
      if (given !== undefined) begin(given);
    };
    const apiKey = takeLinkKey() ?? keptApiKey();
    if (apiKey === undefined) signOut();
    else begin(apiKey);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [signIn, signOut]);

  if (state.step === 'signing in') return <p class="empty">Signing in…</p>;
  if (state.step === 'signed out') return <SignIn error={state.error} kept={keptApiKey()} onKey={signIn} />;
  return (
    <ConnectionContext.Provider value={state.connection}>
      <Frame />
    </ConnectionContext.Provider>
  );
}
