import { Field } from './field.tsx';

/** Select for a few values with labels. */
export function Choice({
  label,
  name,
  options,
  value,
  onChange,
}: {
  label: string;
  name: string;
  options: Readonly<Record<string, string>>;
  /** Initial value. */
  value: string;
  onChange?: (value: string) => void;
}) {
  return (
    <Field label={label}>
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
