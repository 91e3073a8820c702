import { AuthenticationError, InvalidArgumentError } from '@actlog/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { dropApiKey, hasLinkKey, keepApiKey, keptApiKey, takeLinkKey } from './api-key.ts';
import { type Connection, ConnectionContext, createClient } from './connection.ts';
import { dropEarlyResponses } from './early-responses.ts';
import { Frame } from './frame.tsx';
import { mayTakeOver, readIdentity } from './identity.ts';
import { KeyLinkDialog } from './key-link-dialog.tsx';
import { SignIn } from './sign-in.tsx';

/** Time after the sign-in in which a page takes its early responses, in milliseconds. */
const earlyMs = 5000;

/** A signed-in user, also after the service has rejected the key. */
interface SignedIn {
  readonly connection: Connection;
  /** Key of the component tree, so that nothing rendered for one user is reused for the next. */
  readonly person: number;
}

type State =
  | { readonly step: 'signing in' }
  | {
      readonly step: 'signed out';
      readonly error?: unknown;
      /** User whose key was rejected; their input is kept but hidden. */
      readonly refused?: SignedIn | undefined;
    }
  | { readonly step: 'signed in'; readonly signedIn: SignedIn };

/** `true` if the key itself is invalid, in contrast to a failure of the service or the network. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthenticationError || error instanceof InvalidArgumentError;
}

/** The whole page: the sign-in form or the content for the signed-in user. */
export function App() {
  const [state, setState] = useState<State>({ step: 'signing in' });
  const [offered, setOffered] = useState<string>();
  // Responses for an earlier key are irrelevant for the current one.
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
          if (isSignedIn) end(new Error('The API key is no longer valid. Sign in again to continue.'), false);
        });
        const identity = await readIdentity(client);
        setTimeout(dropEarlyResponses, earlyMs);
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

  const begin = useCallback(
    (apiKey: string) => {
      setOffered(undefined);
      setState({ step: 'signing in' });
      void signIn(apiKey);
    },
    [signIn],
  );

  useEffect(() => {
    /** Uses the key of a link immediately if the tab has none; otherwise the user decides. */
    const follow = () => {
      const given = takeLinkKey();
      const current = latest.current ?? keptApiKey();
      if (given === undefined || given === current) return;
      if (current === undefined) begin(given);
      else setOffered(given);
    };
    const kept = keptApiKey();
    if (kept !== undefined) begin(kept);
    else if (!hasLinkKey()) signOut();
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [begin, signOut]);

  useEffect(() => {
    // The tab's own key was rejected, so the link replaces nothing.
    if (state.step === 'signed out' && offered !== undefined && keptApiKey() === undefined) begin(offered);
  }, [state, offered, begin]);

  const isSignedIn = state.step === 'signed in';
  const dialog = offered !== undefined && (
    <KeyLinkDialog
      identity={isSignedIn ? state.signedIn.connection.identity : undefined}
      onAccept={() => begin(offered)}
      onDecline={() => setOffered(undefined)}
    />
  );
  if (state.step === 'signing in') {
    return (
      <>
        {dialog}
        <p class="empty">Signing in…</p>
      </>
    );
  }
  const shown = isSignedIn ? state.signedIn : state.refused;
  return (
    <>
      {dialog}
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

/** Returns the user whose key the service rejected. */
function refusedIn(state: State): SignedIn | undefined {
  if (state.step === 'signed in') return state.signedIn;
  return state.step === 'signed out' ? state.refused : undefined;
}

/** Returns the next signed-in user: the one whose key was rejected, with their input, or a new one. */
function next(connection: Connection, refused: SignedIn | undefined): SignedIn {
  if (refused === undefined) return { connection, person: 0 };
  const isSame = mayTakeOver(connection.identity, refused.connection.identity);
  return { connection, person: isSame ? refused.person : refused.person + 1 };
}
