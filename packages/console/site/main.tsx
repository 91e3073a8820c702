import { AuthenticationError, InvalidArgumentError } from '@actlog/client';
import { render } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type Credential,
  closeSession,
  dropCredential,
  hasLinkKey,
  isSameCredential,
  keepCredential,
  keptApiKey,
  type OpenedSession,
  openSession,
  takeLinkKey,
} from './api-key.ts';
import { type Connection, ConnectionContext } from './connection.ts';
import { dropEarlyResponses } from './early-responses.ts';
import { Frame } from './frame.tsx';
import { type Identity, mayTakeOver } from './identity.ts';
import { onlyKeys, readSignInStatus, SignIn, type SignInStatus } from './sign-in.tsx';
import { showHiddenCharacters } from './visible-text.ts';

/** Time after the sign-in in which a page takes its early responses, in milliseconds. */
const earlyMs = 5000;

/** A signed-in user, also after the service has rejected the credential. */
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
      /** User whose credential was rejected; their input is kept but hidden. */
      readonly refused?: SignedIn | undefined;
    }
  | { readonly step: 'signed in'; readonly signedIn: SignedIn };

/** `true` if the credential itself is invalid, in contrast to a failure of the service or the network. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthenticationError || error instanceof InvalidArgumentError;
}

/** The whole page: the sign-in form or the content for the signed-in user. */
function App() {
  const [state, setState] = useState<State>({ step: 'signing in' });
  const [offered, setOffered] = useState<string>();
  const [status, setStatus] = useState<SignInStatus>(onlyKeys);
  // Responses for an earlier credential are irrelevant for the current one.
  const latest = useRef<Credential>(undefined);

  const signOut = useCallback((error?: unknown) => {
    latest.current = undefined;
    dropCredential();
    setState({ step: 'signed out', error });
  }, []);

  const signIn = useCallback(
    async (credential: Credential) => {
      latest.current = credential;
      const end = (error: unknown, isKept: boolean) => {
        if (!isSameCredential(latest.current, credential)) return;
        latest.current = undefined;
        if (isKept) keepCredential(credential);
        else dropCredential();
        setState((before) => ({ step: 'signed out', error, refused: refusedIn(before) }));
      };
      let isSignedIn = false;
      try {
        const session = await openSession(credential, () => {
          if (isSignedIn) end(new Error(endOf(credential)), false);
        });
        setTimeout(dropEarlyResponses, earlyMs);
        if (!isSameCredential(latest.current, credential)) return;
        isSignedIn = true;
        keepCredential(credential);
        const connection = { ...session, signOut: signOutOf(credential, session, signOut) };
        setState((before) => ({ step: 'signed in', signedIn: next(connection, refusedIn(before)) }));
      } catch (error) {
        end(error, !isRefusal(error));
      }
    },
    [signOut],
  );

  const begin = useCallback(
    (credential: Credential) => {
      setOffered(undefined);
      setState({ step: 'signing in' });
      void signIn(credential);
    },
    [signIn],
  );

  useEffect(() => {
    /** Uses the key of a link immediately if nobody is signed in; otherwise the user decides. */
    const follow = () => {
      const given = takeLinkKey();
      const kept = keptApiKey();
      const current = latest.current ?? (kept === undefined ? undefined : { apiKey: kept });
      if (given === undefined || isSameCredential(current, { apiKey: given })) return;
      if (current === undefined) begin({ apiKey: given });
      else setOffered(given);
    };
    const kept = keptApiKey();
    const hasLink = hasLinkKey();
    if (kept !== undefined) begin({ apiKey: kept });
    follow();
    void readSignInStatus().then((read) => {
      setStatus(read);
      if (kept !== undefined || hasLink) return;
      if (read.signedIn) begin('browser');
      else if (latest.current === undefined) signOut();
    });
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [begin, signOut]);

  useEffect(() => {
    // The key of the tab was rejected, so the link replaces nothing.
    if (state.step === 'signed out' && offered !== undefined && keptApiKey() === undefined) {
      begin({ apiKey: offered });
    }
  }, [state, offered, begin]);

  useEffect(() => {
    if (state.step !== 'signed out' || status.provider === null) return;
    /** Continues for a person who has signed in in another tab, with the input that this tab kept. */
    const resume = async () => {
      if (document.visibilityState !== 'visible' || latest.current !== undefined) return;
      const { signedIn } = await readSignInStatus();
      if (signedIn && latest.current === undefined && keptApiKey() === undefined) void signIn('browser');
    };
    document.addEventListener('visibilitychange', resume);
    return () => document.removeEventListener('visibilitychange', resume);
  }, [state.step, status, signIn]);

  const isSignedIn = state.step === 'signed in';
  const dialog = offered !== undefined && (
    <KeyLinkDialog
      identity={isSignedIn ? state.signedIn.connection.identity : undefined}
      onAccept={() => begin({ apiKey: offered })}
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
      {!isSignedIn && (
        <SignIn
          error={state.error}
          status={status}
          kept={keptApiKey()}
          onKey={(apiKey) => signIn({ apiKey })}
        />
      )}
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

/** Returns the message for a credential that the service no longer accepts. */
function endOf(credential: Credential): string {
  return credential === 'browser'
    ? 'You are signed out. Sign in again to continue.'
    : 'The API key is no longer valid. Sign in again to continue.';
}

/** Returns the function that signs a user out, or undefined if only the proxy can. */
function signOutOf(
  credential: Credential,
  { client, identity }: OpenedSession,
  signOut: (error?: unknown) => void,
): (() => void) | undefined {
  if (credential !== 'browser') return () => signOut();
  if (identity.canSignOut !== true) return undefined;
  return () =>
    void closeSession(client).then(
      () => signOut(),
      (error) => signOut(error),
    );
}

/** Returns the user whose credential the service rejected. */
function refusedIn(state: State): SignedIn | undefined {
  if (state.step === 'signed in') return state.signedIn;
  return state.step === 'signed out' ? state.refused : undefined;
}

/** Returns the next signed-in user: the one whose credential was rejected, with their input, or a new one. */
function next(connection: Connection, refused: SignedIn | undefined): SignedIn {
  if (refused === undefined) return { connection, person: 0 };
  const isSame = mayTakeOver(connection.identity, refused.connection.identity);
  return { connection, person: isSame ? refused.person : refused.person + 1 };
}

showHiddenCharacters();
render(<App />, document.getElementById('root') as HTMLElement);

/** Dialog that asks before the API key of a link replaces the one that this tab uses. */
function KeyLinkDialog({
  identity,
  onAccept,
  onDecline,
}: {
  /** The signed-in user; undefined while unknown. */
  identity: Identity | undefined;
  onAccept: () => void;
  onDecline: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const owner = [identity?.name, identity?.tenant].filter((part) => part !== undefined).join(', ');
  return (
    <dialog ref={dialog} aria-labelledby="key-link-title" onClose={onDecline}>
      <h2 id="key-link-title">Sign in with another key?</h2>
      <p>
        You opened a link that contains an API key.{' '}
        {identity?.role === undefined ? 'This tab already uses another key' : 'You are already signed in'}
        {owner !== '' && (
          <>
            {' '}
            (<span translate={false}>{owner}</span>)
          </>
        )}
        . Use the key in the link only if you trust the person who sent it.
      </p>
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {identity?.role === undefined ? 'Keep the current key' : 'Stay signed in'}
        </button>
        <button type="button" class="quiet" onClick={onAccept}>
          Use the key in the link
        </button>
      </p>
    </dialog>
  );
}
