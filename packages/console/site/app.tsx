import { useCallback, useEffect, useState } from 'preact/hooks';
import { dropApiKey, keepApiKey, readApiKey } from './api-key.ts';
import { type Connection, ConnectionContext, createClient } from './connection.ts';
import { Frame } from './frame.tsx';
import { readIdentity } from './identity.ts';
import { SignIn } from './sign-in.tsx';

type State =
  | { readonly step: 'signing in' }
  | { readonly step: 'signed out'; readonly error?: unknown }
  | { readonly step: 'signed in'; readonly connection: Connection };

/** The whole page: the sign-in, or what the signed-in person may see. */
export function App() {
  const [state, setState] = useState<State>({ step: 'signing in' });

  const signOut = useCallback((error?: unknown) => {
    dropApiKey();
    setState({ step: 'signed out', error });
  }, []);

  const signIn = useCallback(
    async (apiKey: string) => {
      try {
        const client = createClient(apiKey, () => signOut(new Error('The API key is no longer valid.')));
        const identity = await readIdentity(client);
        keepApiKey(apiKey);
        setState({ step: 'signed in', connection: { client, identity, signOut: () => signOut() } });
      } catch (error) {
        signOut(error);
      }
    },
    [signOut],
  );

  useEffect(() => {
    const apiKey = readApiKey();
    if (apiKey === undefined) signOut();
    else void signIn(apiKey);
  }, [signIn, signOut]);

  if (state.step === 'signing in') return null;
  if (state.step === 'signed out') return <SignIn error={state.error} onKey={signIn} />;
  return (
    <ConnectionContext.Provider value={state.connection}>
      <Frame />
    </ConnectionContext.Provider>
  );
}
