import { APIError } from '@actlog/client';

/** Checkboxes for a few values with labels. */
export function Checks({
  label,
  name,
  options,
  checked = [],
}: {
  label: string;
  name: string;
  options: Readonly<Record<string, string>>;
  /** Initially checked values. */
  checked?: readonly string[];
}) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {Object.entries(options).map(([option, words]) => (
        <label key={option} class="check">
          <input type="checkbox" name={name} value={option} defaultChecked={checked.includes(option)} />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Problem with one field, as reported by the service. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** Returns the problems with single fields that an error of the service reports. */
export function findingsOf(error: unknown): Finding[] {
  const details = error instanceof APIError ? error.details : [];
  return details.filter(
    (detail): detail is Finding =>
      typeof detail === 'object' && detail !== null && 'path' in detail && 'message' in detail,
  );
}
