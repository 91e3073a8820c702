import type { PolicyFields } from '../../policy-draft.ts';
import { Field } from '../field.tsx';

/** Fields of a policy's form about who must approve, and what an approval is for. */
export function ApprovalFields({ fields, isReadOnly }: { fields: PolicyFields; isReadOnly: boolean }) {
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
      <div class="row">
        <Check
          name="notRequester"
          isChecked={fields.notRequester === 'on'}
          label="The requester cannot approve: neither the key of the check nor the same person"
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
