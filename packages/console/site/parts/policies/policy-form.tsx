import type { Policy } from '@actlog/client';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { defaultTimeoutSeconds, type PolicyFields, policyFields, submitted } from '../../policy-draft.ts';
import { Choice, Field, FieldErrorsContext } from '../field.tsx';

const globHint = 'One per line; * matches any characters. Empty: all.';

const none: ReadonlyMap<string, string> = new Map();

const effects = { deny: 'Deny', require_approval: 'Require approval', allow: 'Allow' };

/** Form with all fields of a policy. */
export function PolicyForm({
  policy,
  tool,
  isReadOnly,
  isBusy,
  errors,
  reader,
  onSave,
  onTry,
}: {
  /** Policy to edit; undefined for a new one. */
  policy: Policy | undefined;
  /** Initial tool of a new policy. */
  tool: string | undefined;
  isReadOnly: boolean;
  isBusy: boolean;
  /** Messages about single fields; the first of these fields gets the focus. */
  errors: ReadonlyMap<string, string> | undefined;
  /** Is set to a function that returns the fields as they are now. */
  reader: RefObject<(() => PolicyFields) | undefined>;
  onSave: (fields: PolicyFields) => void;
  /** Tries the policy on the past; nothing is saved. */
  onTry: (fields: PolicyFields) => void;
}) {
  const fields = { ...policyFields(policy), ...(policy === undefined && tool && { tools: tool }) };
  const [effect, setEffect] = useState<string>(fields.effect);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (errors !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [errors]);
  // Fields that only some effects use keep their value while they are hidden.
  const withHidden = (given: FormData): PolicyFields => ({
    ...fields,
    ...(Object.fromEntries(given) as Partial<PolicyFields>),
  });
  reader.current = () => withHidden(new FormData(form.current ?? undefined));
  const globs = (label: string, name: 'agents' | 'tools' | 'frameworks' | 'environments') => (
    <Field label={label} hint={globHint}>
      <textarea name={name} rows={2} spellcheck={false} defaultValue={fields[name]} />
    </Field>
  );
  return (
    <FieldErrorsContext.Provider value={errors ?? none}>
      <form ref={form} onSubmit={submitted((given) => onSave(withHidden(given)))}>
        <fieldset class="grid" disabled={isReadOnly}>
          <legend class="hidden">Policy</legend>
          <Field label="Name">
            <input name="name" required maxLength={200} defaultValue={fields.name} />
          </Field>
          <Field label="Description">
            <textarea name="description" rows={1} maxLength={2000} defaultValue={fields.description} />
          </Field>
        </fieldset>
        <fieldset class="grid" disabled={isReadOnly}>
          <legend>Applies to</legend>
          {globs('Tools', 'tools')}
          {globs('Agents', 'agents')}
          {globs('Frameworks', 'frameworks')}
          {globs('Environments', 'environments')}
          <Field
            label="Condition"
            isRow
            hint='CEL over agent.id, session.id, action.toolName, args, origins, framework, environment and principal. Empty: always. Where arguments came from: origins.any("tool", "text"), or origins.recipient.from == "tool".'
          >
            <textarea
              name="condition"
              rows={2}
              spellcheck={false}
              placeholder="args.amount > 1000.0"
              defaultValue={fields.condition}
            />
          </Field>
        </fieldset>
        <fieldset class="grid" disabled={isReadOnly}>
          <legend>Decision</legend>
          <Choice label="Effect" name="effect" options={effects} value={effect} onChange={setEffect} />
          <Choice
            label="Mode"
            name="mode"
            options={{ enforce: 'Enforce', log_only: 'Log only' }}
            value={fields.mode}
          />
          <Field
            label="Priority"
            hint="Order within one effect, highest first. Deny takes precedence over approval, approval over allow."
          >
            <input name="priority" type="number" min={-1000} max={1000} defaultValue={fields.priority} />
          </Field>
          <Field label="Message" hint="Shown to the agent and its model.">
            <textarea name="message" rows={2} maxLength={1000} defaultValue={fields.message} />
          </Field>
        </fieldset>
        {effect === 'require_approval' && (
          <fieldset class="grid" disabled={isReadOnly}>
            <legend>When nobody decides</legend>
            <Field label="After seconds">
              <input
                name="timeoutSeconds"
                type="number"
                min={1}
                max={604_800}
                defaultValue={fields.timeoutSeconds}
                placeholder={String(defaultTimeoutSeconds)}
              />
            </Field>
            <Choice
              label="Then"
              name="onTimeout"
              options={{ deny: 'Deny', allow: 'Allow' }}
              value={fields.onTimeout}
            />
          </fieldset>
        )}
        {effect === 'require_approval' && <ApprovalFields fields={fields} isReadOnly={isReadOnly} />}
        <fieldset class="grid" disabled={isReadOnly}>
          <legend>Only after a number of actions</legend>
          <Field label="More than" hint="Empty: at once.">
            <input name="rateMax" type="number" min={0} max={1_000_000} defaultValue={fields.rateMax} />
          </Field>
          <Field label="In seconds">
            <input
              name="rateWindowSeconds"
              type="number"
              min={1}
              max={86_400}
              defaultValue={fields.rateWindowSeconds}
            />
          </Field>
          <Choice
            label="Counted for each"
            name="ratePer"
            options={{ agent: 'agent', session: 'session', tenant: 'tenant' }}
            value={fields.ratePer}
          />
        </fieldset>
        <ScheduleFields fields={fields} isReadOnly={isReadOnly} />
        {!isReadOnly && (
          <p class="buttons">
            <button type="submit" aria-disabled={isBusy}>
              {policy === undefined ? 'Create' : 'Save'}
            </button>
            <button
              type="button"
              class="quiet"
              onClick={({ currentTarget: { form } }) => {
                if (form?.reportValidity()) onTry(withHidden(new FormData(form)));
              }}
            >
              Try on the last 30 days
            </button>
          </p>
        )}
      </form>
    </FieldErrorsContext.Provider>
  );
}

/** Fields of a policy's form about the times at which it applies. */
function ScheduleFields({ fields, isReadOnly }: { fields: PolicyFields; isReadOnly: boolean }) {
  return (
    <fieldset class="grid" disabled={isReadOnly}>
      <legend>Only at certain times</legend>
      <Field label="Time zone" hint="Such as Europe/Berlin. Empty: at all times.">
        <input name="scheduleZone" maxLength={100} spellcheck={false} defaultValue={fields.scheduleZone} />
      </Field>
      <Field label="Days" hint="Such as mon, tue, wed. Empty: every day.">
        <input name="scheduleDays" spellcheck={false} defaultValue={fields.scheduleDays} />
      </Field>
      <Field label="From" hint="Such as 09:00. Empty: midnight.">
        <input name="scheduleFrom" maxLength={5} defaultValue={fields.scheduleFrom} />
      </Field>
      <Field label="To" hint="Such as 17:30; before the start, it is on the next day.">
        <input name="scheduleTo" maxLength={5} defaultValue={fields.scheduleTo} />
      </Field>
    </fieldset>
  );
}

/** Fields of a policy's form about who must approve, and what an approval is for. */
function ApprovalFields({ fields, isReadOnly }: { fields: PolicyFields; isReadOnly: boolean }) {
  return (
    <fieldset class="grid" disabled={isReadOnly}>
      <legend>Who approves</legend>
      <Field label="Approvers" hint="How many must approve. Each counts once, and one denial denies.">
        <input
          name="requiredApprovers"
          type="number"
          min={1}
          max={10}
          defaultValue={fields.requiredApprovers}
        />
      </Field>
      <Field
        label="Only these keys"
        hint="Ids of keys, one per line. Empty: every key with the scope “decide”."
      >
        <textarea name="approverKeys" rows={1} spellcheck={false} defaultValue={fields.approverKeys} />
      </Field>
      <Field
        label="Arguments that an approver may change"
        hint={`One per line, such as {"path":"amount","max":500}, {"path":"paths","subset":true} or {"path":"to","oneOf":["ada"]}.`}
      >
        <textarea name="editable" rows={1} spellcheck={false} defaultValue={fields.editable} />
      </Field>
      <div class="row">
        <Check
          name="notRequester"
          isChecked={fields.notRequester === 'on'}
          label="The requester cannot approve: neither the key of the check nor the same person"
        />
        <Check
          name="verifiedPrincipal"
          isChecked={fields.verifiedPrincipal === 'on'}
          label="Nobody can approve unless a token verifies the principal"
        />
        <Check name="singleUse" isChecked={fields.singleUse === 'on'} label="Each approval is for one call" />
      </div>
    </fieldset>
  );
}

function Check({ name, label, isChecked }: { name: keyof PolicyFields; label: string; isChecked: boolean }) {
  return (
    <>
      {/* Forms omit unchecked checkboxes; this is their value. */}
      <input type="hidden" name={name} value="" />
      <label class="check">
        <input type="checkbox" name={name} value="on" defaultChecked={isChecked} />
        <span>{label}</span>
      </label>
    </>
  );
}
