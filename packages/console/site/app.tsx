import { AuthenticationError, InvalidArgumentError } from '@actlog/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { dropApiKey, keepApiKey, keptApiKey, takeLinkKey } from './api-key.ts';
import { type Connection, ConnectionContext, createClient } from './connection.ts';
import { Frame } from './frame.tsx';
import { mayTakeOver, readIdentity } from './identity.ts';
import { SignIn } from './sign-in.tsx';

/** Who is signed in, or was until the service refused the key. */
interface SignedIn {
  readonly connection: Connection;
  /** Tells what is drawn for one person from what is drawn for the next. */
  readonly person: number;
}

type State =
  | { readonly step: 'signing in' }
  | {
      readonly step: 'signed out';
      readonly error?: unknown;
      /** What they had typed is kept for them, out of sight. */
      readonly refused?: SignedIn | undefined;
    }
  | { readonly step: 'signed in'; readonly signedIn: SignedIn };

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
      const end = (error: unknown, isKept: boolean) => {
        if (latest.current !== apiKey) return;
        latest.current = undefined;
        if (isKept) keepApiKey(apiKey);
        else dropApiKey();
        setState((before) => ({ step: 'signed out', error, refused: refusedIn(before) }));
      };
      let isSignedIn = false;
      try {
        const client = createClient(apiKey, () => {
          if (isSignedIn) end(new Error('The API key is no longer valid. Sign in again to go on.'), false);
        });
        const identity = await readIdentity(client);
        if (latest.current !== apiKey) return;
        isSignedIn = true;
        keepApiKey(apiKey);
        const connection = { client, identity, signOut: () => signOut() };
        setState((before) => ({ step: 'signed in', signedIn: next(connection, refusedIn(before)) }));
      } catch (error) {
        end(error, !isRefusal(error));
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
  const isSignedIn = state.step === 'signed in';
  const shown = isSignedIn ? state.signedIn : state.refused;
  return (
    <>
      {!isSignedIn && <SignIn error={state.error} kept={keptApiKey()} onKey={signIn} />}
      {shown !== undefined && (
        <div key={shown.person} hidden={!isSignedIn}>
          <ConnectionContext.Provider value={shown.connection}>
            <Frame isShown={isSignedIn} />
          </ConnectionContext.Provider>
        </div>
      )}
    </>
  );
}

/** Who was signed in when the service refused their key. */
function refusedIn(state: State): SignedIn | undefined {
  if (state.step === 'signed in') return state.signedIn;
  return state.step === 'signed out' ? state.refused : undefined;
}

/** Who signs in: the one whose key was refused, with what they had typed, or somebody else. */
function next(connection: Connection, refused: SignedIn | undefined): SignedIn {
  if (refused === undefined) return { connection, person: 0 };
  const isSame = mayTakeOver(connection.identity, refused.connection.identity);
  return { connection, person: isSame ? refused.person : refused.person + 1 };
}
