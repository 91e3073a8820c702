import type { Scope } from '@actlog/protocol';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ApiKeyCreate, keyRoles } from '../../keys-api.ts';
import { Checks } from '../checks.tsx';
import { Choice, Field, submitted } from '../field.tsx';

/** A secret that is shown once, with a button to copy it. */
export function Secret({ label, value, onDone }: { label: string; value: string; onDone: () => void }) {
  const [copied, setCopied] = useState<string>();
  const section = useRef<HTMLElement>(null);
  // It is above the form that created it and may be out of view.
  useLayoutEffect(() => section.current?.focus(), [value]);
  return (
    <section ref={section} class="secret" aria-label={label} tabIndex={-1}>
      <p>
        <strong>{label}.</strong> It is shown this once: put it where it belongs before you go on.
      </p>
      <p>
        <code>{value}</code>
      </p>
      <p class="buttons">
        {/* Browsers provide no clipboard over plain HTTP. */}
        {navigator.clipboard !== undefined && (
          <button
            type="button"
            onClick={() =>
              navigator.clipboard.writeText(value).then(
                () => setCopied(value),
                () => {},
              )
            }
          >
            {copied === value ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" class="quiet" onClick={onDone}>
          I have it
        </button>
      </p>
    </section>
  );
}

const opens: Readonly<Record<Scope, string>> = {
  ingest: 'ingest: record events and check actions',
  read: 'read: everything that is recorded',
  manage: 'manage: agents, policies, webhooks',
  decide: 'decide: held actions',
};

const custom = 'custom';

const roles = [
  ...Object.entries(keyRoles).map(([id, { name, about }]) => ({ id, name, about })),
  { id: custom, name: 'Custom', about: 'Exactly the scopes that you choose.' },
];

/** Returns the scopes that a form requests. */
function scopesOf(form: FormData): Scope[] {
  const role = String(form.get('role'));
  const { [role as keyof typeof keyRoles]: known } = keyRoles;
  return known ? [...known.scopes] : (form.getAll('scopes') as Scope[]);
}

/**
 * Returns the patterns of agents that a form requests; null for any agent. A key for an agent is bound to its own name
 * unless the form says otherwise, so that it cannot act as other agents.
 */
function agentsOf(form: FormData): string[] | null {
  const patterns = String(form.get('agents') ?? '')
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
  if (patterns.length > 0) return patterns;
  return form.get('role') === 'agent' ? [String(form.get('name')).trim()] : null;
}

/** Form to create a key for a role. */
export function KeyForm({ isBusy, onCreate }: { isBusy: boolean; onCreate: (body: ApiKeyCreate) => void }) {
  const [role, setRole] = useState('agent');
  return (
    <section aria-labelledby="new">
      <h2 id="new">New key</h2>
      <form
        onSubmit={submitted((form) =>
          onCreate({
            name: String(form.get('name')).trim(),
            kind: form.get('kind') === 'test' ? 'test' : 'live',
            scopes: scopesOf(form),
            agents: agentsOf(form),
            shared: form.get('shared') === 'on',
            requiresIdentity: form.get('requiresIdentity') === 'on',
            expiresInDays: Number(form.get('expiresInDays')) || undefined,
          }),
        )}
      >
        <fieldset class="roles">
          <legend>Role</legend>
          {roles.map(({ id, name, about }) => (
            <label key={id} class="role">
              <input type="radio" name="role" value={id} checked={role === id} onInput={() => setRole(id)} />
              <span>
                <strong>{name}</strong>
                <small>{about}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {role === custom && <Checks label="Scopes" name="scopes" options={opens} checked={['ingest']} />}
        <div class="grid">
          <Field label="Name" hint="What it is used for, such as billing-agent.">
            <input name="name" required maxLength={200} />
          </Field>
          {(role === 'agent' || role === custom) && (
            <>
              <Field
                label="Agents"
                hint={`Ids that it may act as, such as billing*, separated by commas. Empty: ${
                  role === 'agent' ? "the key's name" : 'any agent'
                }. * alone is any agent.`}
              >
                <input name="agents" maxLength={5000} />
              </Field>
              <label class="check">
                <input type="checkbox" name="shared" />
                <span>Several agents share it: revoking one does not stop the others</span>
              </label>
              <label class="check">
                <input type="checkbox" name="requiresIdentity" />
                <span>Its requests need a token that verifies their agent</span>
              </label>
            </>
          )}
          <Choice label="Kind" name="kind" options={{ live: 'live', test: 'test' }} value="live" />
          <Field label="Expires after days" hint="Empty: never.">
            <input name="expiresInDays" type="number" min={1} max={36_500} />
          </Field>
          <p class="buttons">
            <button type="submit" aria-disabled={isBusy}>
              Create
            </button>
          </p>
        </div>
      </form>
    </section>
  );
}
