import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type Clause, formatClauses, operatorTexts, parseClauses } from '../../policy-sentence.ts';
import { Field, FieldErrorsContext } from '../field.tsx';
import { AddButton, RemoveButton } from './name-chips.tsx';

/** A comparison with a key that stays the same while it is edited. */
interface Row extends Clause {
  readonly key: number;
}

/** State of a condition in a form: comparisons, or CEL, which can say more. */
export interface ConditionState {
  readonly rows: readonly Row[];
  /** CEL as the user writes it; undefined for comparisons. */
  readonly cel: string | undefined;
}

function keyed(clauses: readonly Clause[]): Row[] {
  return clauses.map((clause, key) => ({ ...clause, key }));
}

/** Returns the state of a condition's text, which stays exactly as it is until the user changes it. */
export function conditionState(condition: string): ConditionState {
  const clauses = parseClauses(condition);
  return { rows: keyed(clauses ?? []), cel: clauses === undefined ? condition : undefined };
}

interface ConditionProps {
  readonly state: ConditionState;
  readonly isReadOnly: boolean;
  readonly onChange: (state: ConditionState) => void;
}

/** Part of a policy's sentence about arguments: comparisons, each a control, or a reference to the CEL below. */
export function ArgumentClauses({ state: { rows, cel }, isReadOnly, onChange }: ConditionProps) {
  const builder = useRef<HTMLSpanElement>(null);
  const [added, setAdded] = useState<number>();
  useEffect(() => {
    if (added !== undefined)
      builder.current?.querySelector<HTMLInputElement>(`[data-row="${added}"]`)?.focus();
  }, [added]);
  if (cel !== undefined) {
    return (
      <span class="clause">
        <span class="word">if</span>
        <span class="faint">the condition below holds</span>
      </span>
    );
  }
  const set = (changed: readonly Row[]) => onChange({ rows: changed, cel: undefined });
  const change = (row: Row, change: Partial<Clause>) =>
    set(rows.map((one) => (one === row ? { ...row, ...change } : one)));
  const add = () => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
    set([...rows, { key, path: '', operator: '>', value: '' }]);
    setAdded(key);
  };
  return (
    <span ref={builder} class="clauses">
      {rows.map((row, index) => (
        <span key={row.key} class="clause">
          <span class="word">{index === 0 ? 'with' : 'and'}</span>
          <input
            class="path"
            aria-label="Argument"
            placeholder="amount"
            required
            maxLength={200}
            pattern="[^.]+(\.[^.]+)*"
            title="A name, or names joined with dots, such as amount or to.country"
            spellcheck={false}
            autocomplete="off"
            data-row={row.key}
            value={row.path}
            onInput={(event) => change(row, { path: event.currentTarget.value })}
          />
          <select
            aria-label="Comparison"
            value={row.operator}
            onChange={(event) => change(row, { operator: event.currentTarget.value as Clause['operator'] })}
          >
            {Object.entries(operatorTexts).map(([operator, words]) => (
              <option key={operator} value={operator}>
                {words}
              </option>
            ))}
          </select>
          <input
            class="value"
            aria-label="Value"
            placeholder={row.operator.length > 2 ? 'text' : '500'}
            required={row.operator !== '==' && row.operator !== '!='}
            maxLength={1000}
            spellcheck={false}
            autocomplete="off"
            value={row.value}
            onInput={(event) => change(row, { value: event.currentTarget.value })}
          />
          {!isReadOnly && (
            <RemoveButton
              label={`Remove the condition on ${row.path || 'an argument'}`}
              onClick={() => set(rows.filter((one) => one !== row))}
            />
          )}
        </span>
      ))}
      {rows.length === 0 && isReadOnly && <span class="faint">with any arguments</span>}
      {!isReadOnly && (
        <span class="clause">
          {rows.length === 0 && <span class="word">with</span>}
          <AddButton label={rows.length === 0 ? 'any arguments' : 'and'} onClick={add} />
        </span>
      )}
    </span>
  );
}

/** Field with the condition as CEL, and the way between it and the comparisons. */
export function ConditionField({ state: { rows, cel }, isReadOnly, onChange }: ConditionProps) {
  const error = useContext(FieldErrorsContext).get('condition');
  if (cel === undefined) {
    return (
      <p class="condition-switch">
        {error !== undefined && (
          <span class="field-error" role="alert">
            The condition {error}.{' '}
          </span>
        )}
        <input type="hidden" name="condition" value={formatClauses(rows)} />
        {rows.length > 0 && (
          <span class="faint">
            An argument that the agent does not show counts as a match for deny and ask.{' '}
          </span>
        )}
        {!isReadOnly && (
          <button
            type="button"
            class="link"
            onClick={() => onChange({ rows, cel: formatClauses(rows.filter(({ path }) => path !== '')) })}
          >
            Write the condition in CEL
          </button>
        )}
      </p>
    );
  }
  const clauses = parseClauses(cel);
  return (
    <>
      <Field
        label="Condition"
        hint='CEL over agent.id, session.id, action.toolName, args, origins, framework, environment and principal. Empty: always. Where arguments came from: origins.any("tool", "text"), or origins.recipient.from == "tool".'
      >
        <textarea
          name="condition"
          rows={Math.min(8, Math.max(2, cel.split('\n').length))}
          spellcheck={false}
          placeholder="args.amount > 1000.0"
          value={cel}
          onInput={(event) => onChange({ rows, cel: event.currentTarget.value })}
        />
      </Field>
      {!isReadOnly && clauses !== undefined && (
        <p class="condition-switch">
          <button
            type="button"
            class="link"
            onClick={() => onChange({ rows: keyed(clauses), cel: undefined })}
          >
            Compare arguments instead
          </button>
        </p>
      )}
    </>
  );
}
