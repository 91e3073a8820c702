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
