import { cloneElement, type VNode } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { FieldErrorsContext } from './field-errors.ts';

/** Form control with a label, an optional hint, and the message of the service if its value is invalid. */
export function Field({
  label,
  hint,
  isRow = false,
  children,
}: {
  label: string;
  hint?: string;
  /** `true` if it spans a whole row of the grid. */
  isRow?: boolean;
  children: VNode;
}) {
  const id = useId();
  const errors = useContext(FieldErrorsContext);
  const error = errors.get((children.props as { readonly name?: string }).name ?? '');
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const describedBy = [error !== undefined && errorId, hint !== undefined && hintId]
    .filter(Boolean)
    .join(' ');
  return (
    <div class={isRow ? 'field row' : 'field'}>
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(describedBy && { 'aria-describedby': describedBy }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {error !== undefined && (
        <small id={errorId} class="field-error" role="alert">
          {error}
        </small>
      )}
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </div>
  );
}

/** Select of a bar of filters, which submits its form when it changes. The form sets its value. */
export function FilterSelect({
  label,
  name,
  options,
  onChange,
}: {
  label: string;
  name: string;
  options: Readonly<Record<string, string>>;
  /** Returns `true` if the change is not a search yet. */
  onChange?: (value: string) => boolean;
}) {
  return (
    <Field label={label}>
      <select
        name={name}
        onChange={({ currentTarget }) => {
          if (!onChange?.(currentTarget.value)) currentTarget.form?.requestSubmit();
        }}
      >
        {Object.entries(options).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}
