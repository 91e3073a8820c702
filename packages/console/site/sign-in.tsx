import { useLayoutEffect } from 'preact/hooks';
import { useAction } from './hooks/use-action.ts';
import { Field, submitted } from './parts/field.tsx';
import { Problem } from './parts/problem.tsx';

/** Page on which a person signs in with the provider or an API key. */
export function SignIn({
  error,
  status: { provider, noRole },
  kept,
  onKey,
}: {
  error: unknown;
  status: SignInStatus;
  /** Key to retry with, if the service could not validate it. */
  kept: string | undefined;
  onKey: (apiKey: string) => Promise<void>;
}) {
  const signIn = useAction(onKey);
  useLayoutEffect(() => {
    document.title = 'Sign in · actlog';
  }, []);
  const problem = <Problem error={signIn.isBusy ? undefined : error} />;
  const form = (
    <form onSubmit={submitted((fields) => signIn.run(String(fields.get('apiKey')).trim()))}>
      <Field label="API key" hint="It needs the scope “read”. It is kept in this tab until the tab closes.">
        <input
          name="apiKey"
          type="password"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="al_live_…"
        />
      </Field>
      {provider === null && problem}
      {kept !== undefined && (
        <button type="button" class="quiet" aria-disabled={signIn.isBusy} onClick={() => signIn.run(kept)}>
          Try again
        </button>
      )}
      <button type="submit" aria-disabled={signIn.isBusy}>
        Sign in
      </button>
    </form>
  );
  return (
    <main class="sign-in">
      <h1>actlog</h1>
      <p>The tool calls of your agents and their risk.</p>
      {noRole !== null && (
        <p class="warn">
          You are signed in as <bdi translate={false}>{noRole}</bdi>, but you have no role on this server. Ask
          its operator to give you one, or to add you to a group that has one.
        </p>
      )}
      {provider === null ? (
        form
      ) : (
        <>
          {problem}
          <p>
            <a
              class="button"
              href={signInAddress()}
              // The place may have changed since the page was rendered.
              onClick={(event) => {
                event.currentTarget.href = signInAddress();
              }}
            >
              Sign in with <bdi>{provider.label}</bdi>
            </a>
          </p>
          <details>
            <summary>Sign in with an API key</summary>
            {form}
          </details>
        </>
      )}
    </main>
  );
}

/** Ways to sign in to this server, and whether the browser already is signed in. */
export interface SignInStatus {
  /** Provider to sign in with; null without one. */
  readonly provider: { readonly label: string } | null;
  /** `true` if a cookie or a proxy signs the browser in. */
  readonly signedIn: boolean;
  /** Name of a person whom a proxy signs in, but who has no role; null otherwise. */
  readonly noRole: string | null;
}

/** Status of a server on which people sign in by key only. */
export const onlyKeys: SignInStatus = { provider: null, signedIn: false, noRole: null };

/** Maximum time to wait for the status, in milliseconds. */
const timeoutMs = 10_000;

/** Reads the status. A service that does not have it, or does not respond, is treated as one that takes keys only. */
export async function readSignInStatus(): Promise<SignInStatus> {
  try {
    const response = await fetch('api/sign-in', { signal: AbortSignal.timeout(timeoutMs) });
    const status = response.ok ? ((await response.json()) as Partial<SignInStatus>) : undefined;
    return typeof status?.signedIn === 'boolean' ? { ...onlyKeys, ...status } : onlyKeys;
  } catch {
    return onlyKeys;
  }
}

/** Returns the address that leads to the provider, and back to the current place of the page. */
function signInAddress(): string {
  return `sign-in?return=${encodeURIComponent(location.hash)}`;
}
