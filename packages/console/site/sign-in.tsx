import { useLayoutEffect } from 'preact/hooks';
import { useAction } from './hooks/use-action.ts';
import { Field } from './parts/field.tsx';
import { Problem } from './parts/problem.tsx';
import { type SignInStatus, signInAddress } from './sign-in-status.ts';
import { submitted } from './submitted.ts';

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
