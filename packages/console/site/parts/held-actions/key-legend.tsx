const keys = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'approve'],
  ['d', 'deny'],
  ['x', 'select'],
] as const;

/** Legend of the keyboard shortcuts, with a checkbox that turns them off (WCAG 2.2, 2.1.4). */
export function KeyLegend({
  isOn,
  canSelect,
  onSwitch,
}: {
  isOn: boolean;
  /** `true` if several actions can be decided at once. */
  canSelect: boolean;
  onSwitch: (isOn: boolean) => void;
}) {
  return (
    <div class="key-legend">
      <label class="check">
        <input type="checkbox" checked={isOn} onInput={(event) => onSwitch(event.currentTarget.checked)} />
        <span>Keyboard shortcuts</span>
      </label>
      {isOn && (
        <ul aria-label="Keyboard shortcuts">
          {keys
            .filter(([key]) => key !== 'x' || canSelect)
            .map(([key, words]) => (
              <li key={key}>
                <kbd>{key}</kbd> {words}
              </li>
            ))}
          <li>
            <kbd>Enter</kbd> confirm
          </li>
          <li>
            <kbd>Esc</kbd> cancel
          </li>
        </ul>
      )}
    </div>
  );
}
