import { cloneElement, createContext, type TargetedSubmitEvent, type VNode } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { findingsOf } from './checks.tsx';

/** Form control with a label, an optional hint, and the message of the service if its value is invalid. */
export function Field({
  label,
  hint,
  isRow = false,
  isInline = false,
  children,
}: {
  label: string;
  hint?: string;
  /** `true` if it spans a whole row of the grid. */
  isRow?: boolean;
  /** `true` if it is part of a sentence, whose words are its visible label. */
  isInline?: boolean;
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
    <div class={isInline ? 'field inline' : isRow ? 'field row' : 'field'}>
      <label for={id} class={isInline ? 'hidden' : undefined}>
        {label}
      </label>
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

/** Messages about the fields of a form, by the name of the field. */
export const FieldErrorsContext = createContext<ReadonlyMap<string, string>>(new Map());

/**
 * Returns the messages of an error by the name of the field that each is about.
 *
 * @param fieldOf - returns the field for a path in the request; undefined for none
 * @returns undefined if a message is about no field, so that the error has to be shown as a whole
 */
export function fieldErrors(
  error: unknown,
  fieldOf: (path: string) => string | undefined,
): ReadonlyMap<string, string> | undefined {
  const found = findingsOf(error);
  if (found.length === 0) return undefined;
  const messages = new Map<string, string>();
  for (const { path, message } of found) {
    const field = fieldOf(path);
    if (field === undefined) return undefined;
    messages.set(field, [messages.get(field), message].filter(Boolean).join('; '));
  }
  return messages;
}

/** Select for a few values with labels. */
export function Choice({
  label,
  name,
  options,
  value,
  isInline = false,
  onChange,
}: {
  label: string;
  name: string;
  options: Readonly<Record<string, string>>;
  /** Initial value. */
  value: string;
  /** `true` if it is part of a sentence. */
  isInline?: boolean;
  onChange?: (value: string) => void;
}) {
  return (
    <Field label={label} isInline={isInline}>
      <select name={name} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {Object.entries(options).map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** Returns the fields of a form without the spaces around them, as the query of an address. */
export function trimmed(fields: FormData): Record<string, string> {
  return Object.fromEntries([...fields].map(([name, value]) => [name, String(value).trim()]));
}

/** Creates an `onSubmit` handler that passes the form data on and prevents the browser's submission. */
export function submitted(
  handle: (fields: FormData, form: HTMLFormElement) => void,
): (event: TargetedSubmitEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    handle(new FormData(event.currentTarget), event.currentTarget);
  };
}
