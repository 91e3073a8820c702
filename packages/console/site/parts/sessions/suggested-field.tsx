import { useId } from 'preact/hooks';
import type { Suggestions } from '../../hooks/use-suggestions.ts';
import { Field } from '../field.tsx';

/** Text field that suggests names while the user types. */
export function SuggestedField({
  label,
  name,
  suggestions: { names, request },
}: {
  label: string;
  name: string;
  suggestions: Suggestions;
}) {
  const id = useId();
  return (
    <>
      <Field label={label}>
        <input
          name={name}
          list={id}
          placeholder="any"
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          onFocus={(event) => request(event.currentTarget.value)}
          onInput={(event) => request(event.currentTarget.value)}
        />
      </Field>
      <datalist id={id}>
        {names?.map((suggested) => (
          <option key={suggested} value={suggested} />
        ))}
      </datalist>
    </>
  );
}
