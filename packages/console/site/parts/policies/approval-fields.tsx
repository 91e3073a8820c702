import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type EditableRow,
  editableJson,
  editableKinds,
  editableRow,
  type PolicyFields,
} from '../../policy-draft.ts';
import { lengthPattern } from '../../policy-sentence.ts';
import { Choice, Field } from '../field.tsx';
import { useSuggestions } from '../sessions/session-filters.tsx';
import { AddButton, NamesField, RemoveButton } from './name-chips.tsx';

/** Lengths of time that approvers are often given. */
const timeouts = ['5 min', '15 min', '1 hour', '8 hours', '1 day', '7 days'];

/** Fields of a policy's form about who must approve, for how long an action waits, and what an approver may change. */
export function ApprovalFields({
  fields,
  isReadOnly,
  onChange,
}: {
  fields: PolicyFields;
  isReadOnly: boolean;
  /** Called after a change that is no input of the user. */
  onChange: () => void;
}) {
  const groups = useSuggestions('approverGroup');
  return (
    <fieldset class="grid" disabled={isReadOnly}>
      <legend class="hidden">Approvals</legend>
      <Field label="Approvers" hint="How many must approve. Each counts once, and one denial denies.">
        <input
          name="requiredApprovers"
          type="number"
          min={1}
          max={10}
          defaultValue={fields.requiredApprovers}
        />
      </Field>
      <NamesField
        label="Only people of these groups"
        hint="As the sign-in names them. Press Enter after each."
        name="approverGroups"
        initial={fields.approverGroups}
        placeholder="everyone who may decide"
        separator={/[\r\n]/}
        suggestions={groups}
        isReadOnly={isReadOnly}
        onChange={onChange}
      />
      <Field label="Nobody decides within" hint="Such as 15 min, 2 hours or 1 day. Empty: 15 minutes.">
        <input
          name="timeout"
          list="timeouts"
          pattern={lengthPattern}
          title="A length of time with its unit, such as 15 min"
          placeholder="15 min"
          autocomplete="off"
          defaultValue={fields.timeout}
        />
      </Field>
      <datalist id="timeouts">
        {timeouts.map((length) => (
          <option key={length} value={length} />
        ))}
      </datalist>
      <Choice
        label="Then"
        name="onTimeout"
        options={{ deny: 'Deny', allow: 'Allow' }}
        value={fields.onTimeout}
      />
      <NamesField
        label="Only these keys"
        hint="Ids of keys. Empty: every key with the scope “decide”."
        name="approverKeys"
        initial={fields.approverKeys}
        placeholder="every key that may decide"
        isReadOnly={isReadOnly}
        onChange={onChange}
      />
      <div class="checks">
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
      <EditableRows initial={fields.editable} isReadOnly={isReadOnly} onChange={onChange} />
    </fieldset>
  );
}

/** A row as it came, which stays exactly so until the user changes it. */
interface Row extends EditableRow {
  readonly key: number;
  readonly json: string;
}

/** Rows with the arguments that an approver may change, each with its limit. */
function EditableRows({
  initial,
  isReadOnly,
  onChange,
}: {
  initial: string;
  isReadOnly: boolean;
  onChange: () => void;
}) {
  const [rows, setRows] = useState<readonly Row[]>(() =>
    initial
      .split('\n')
      .filter(Boolean)
      .map((json, key) => ({ ...editableRow(json), key, json })),
  );
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) onChange();
    isFirst.current = false;
  }, [rows]);
  const change = (row: Row, change: Partial<EditableRow>) => {
    const changed = { ...row, ...change };
    setRows(rows.map((one) => (one === row ? { ...changed, json: editableJson(changed) } : one)));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is inside a fieldset
    <div class="row editable-rows" role="group" aria-label="Arguments that an approver may change">
      <p class="label">Arguments that an approver may change</p>
      {rows.map((row) => (
        <div key={row.key} class="editable-row">
          <input type="hidden" name="editable" value={row.json} />
          {row.kind !== 'other' && (
            <input
              class="path"
              aria-label="Changeable argument"
              placeholder="amount"
              required
              spellcheck={false}
              autocomplete="off"
              value={row.path}
              onInput={(event) => change(row, { path: event.currentTarget.value })}
            />
          )}
          <select
            aria-label="Limit"
            value={row.kind}
            onChange={(event) => {
              const kind = event.currentTarget.value as EditableRow['kind'];
              change(row, { kind, limit: kind === 'other' ? row.json : '' });
            }}
          >
            {Object.entries(editableKinds).map(([kind, words]) => (
              <option key={kind} value={kind}>
                {words}
              </option>
            ))}
          </select>
          {row.kind !== 'list' && row.kind !== 'text' && (
            <input
              class="value"
              aria-label="Limit of the argument"
              placeholder={
                { number: '500 or 100 to 500', choice: 'ada, grace', other: '{"path":"amount"}' }[row.kind]
              }
              required
              spellcheck={false}
              autocomplete="off"
              value={row.limit}
              onInput={(event) => change(row, { limit: event.currentTarget.value })}
            />
          )}
          {!isReadOnly && (
            <RemoveButton
              label={`Remove ${row.path || 'the argument'}`}
              onClick={() => setRows(rows.filter((one) => one !== row))}
            />
          )}
        </div>
      ))}
      {rows.length === 0 && isReadOnly && <p class="faint">None</p>}
      {!isReadOnly && (
        <AddButton
          label="an argument"
          onClick={() => {
            const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
            setRows([...rows, { key, path: '', kind: 'number', limit: '', json: '' }]);
          }}
        />
      )}
    </div>
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
