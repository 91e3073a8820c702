import type { Scope } from '@actlog/protocol';
import type { ApiKeyCreate } from '../../keys-api.ts';
import { submitted } from '../../submitted.ts';
import { Checks } from '../checks.tsx';
import { Choice } from '../choice.tsx';
import { Field } from '../field.tsx';

const opens: Readonly<Record<Scope, string>> = {
  ingest: 'ingest: record events and check actions. Sufficient for an agent.',
  read: 'read: everything that is recorded',
  manage: 'manage: agents, policies, webhooks',
  decide: 'decide: held actions',
};

/** Form to create a key. */
export function KeyForm({ isBusy, onCreate }: { isBusy: boolean; onCreate: (body: ApiKeyCreate) => void }) {
  return (
    <section aria-labelledby="new">
      <h2 id="new">New key</h2>
      <form
        class="grid"
        onSubmit={submitted((form) =>
          onCreate({
            name: String(form.get('name')).trim(),
            kind: form.get('kind') === 'test' ? 'test' : 'live',
            scopes: form.getAll('scopes') as Scope[],
            expiresInDays: Number(form.get('expiresInDays')) || undefined,
          }),
        )}
      >
        <Field label="Name">
          <input name="name" required maxLength={200} />
        </Field>
        <Choice label="Kind" name="kind" options={{ live: 'live', test: 'test' }} value="live" />
        <Field label="Expires after days" hint="Empty: never.">
          <input name="expiresInDays" type="number" min={1} max={36_500} />
        </Field>
        <Checks label="Scopes" name="scopes" options={opens} checked={['ingest']} />
        <p class="buttons">
          <button type="submit" aria-disabled={isBusy}>
            Create
          </button>
        </p>
      </form>
    </section>
  );
}
