import { Field } from './parts/field.tsx';
import { Problem } from './parts/problem.tsx';
import { useAction } from './use-action.ts';

/** Asks for an API key. */
export function SignIn({ error, onKey }: { error: unknown; onKey: (apiKey: string) => Promise<void> }) {
  const signIn = useAction(onKey);
  return (
    <main class="sign-in">
      <h1>actlog</h1>
      <p>What your agents do with their tools, and how risky it was.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          signIn.run(String(form.get('apiKey')).trim());
        }}
      >
        <Field
          label="API key"
          hint="It needs the scope “read”. It is kept in this tab, and forgotten when the tab closes."
        >
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
        <button type="submit" disabled={signIn.isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
