import { useLayoutEffect } from 'preact/hooks';
import { useAction } from './hooks/use-action.ts';
import { Field } from './parts/field.tsx';
import { Problem } from './parts/problem.tsx';
import { submitted } from './submitted.ts';

/** Form that asks for an API key. */
export function SignIn({
  error,
  kept,
  onKey,
}: {
  error: unknown;
  /** Key to retry with, if the service could not validate it. */
  kept: string | undefined;
  onKey: (apiKey: string) => Promise<void>;
}) {
  const signIn = useAction(onKey);
  useLayoutEffect(() => {
    document.title = 'Sign in · actlog';
  }, []);
  return (
    <main class="sign-in">
      <h1>actlog</h1>
      <p>The tool calls of your agents and their risk.</p>
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
        <Problem error={signIn.isBusy ? undefined : error} />
        {kept !== undefined && (
          <button type="button" class="quiet" aria-disabled={signIn.isBusy} onClick={() => signIn.run(kept)}>
            Try again
          </button>
        )}
        <button type="submit" aria-disabled={signIn.isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
