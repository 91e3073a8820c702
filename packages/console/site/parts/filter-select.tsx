import { Field } from './field.tsx';

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
