import type { Decide, PendingAction } from '@actlog/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keepPreference, readPreference } from '../../preference.ts';

/** A decision that the user has to confirm. */
export interface AskedDecision {
  readonly id: string;
  readonly decision: Decide['decision'];
}

const preference = 'shortcuts';

function cardOf(id: string | undefined): HTMLElement | null {
  return document.getElementById(`action-${id}`);
}

/** Keyboard shortcuts for a list of held actions, with their legend. */
export function DecisionKeys({
  actions,
  onAsk,
  onSelect,
}: {
  /** Actions that can be decided, in the order in which they are shown. */
  actions: readonly PendingAction[];
  /** Called when the user wants to decide the focused action. */
  onAsk: (asked: AskedDecision) => void;
  /** Selects the focused action, or no longer; undefined if actions cannot be selected. */
  onSelect: ((id: string) => void) | undefined;
}) {
  const [isOn, setOn] = useState(readPreference(preference) !== 'off');
  const focused = () => actions.findIndex(({ id }) => cardOf(id)?.contains(document.activeElement));
  const move = (step: 1 | -1) => {
    const from = focused();
    const to = from === -1 ? (step === 1 ? 0 : actions.length - 1) : from + step;
    const card = cardOf(actions[Math.min(Math.max(to, 0), actions.length - 1)]?.id);
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: 'nearest' });
  };
  const withFocused = (act: (id: string) => void) => () => {
    const id = actions[focused()]?.id;
    if (id !== undefined) act(id);
  };
  usePageKeys(
    isOn
      ? {
          j: () => move(1),
          k: () => move(-1),
          a: withFocused((id) => onAsk({ id, decision: 'approve' })),
          d: withFocused((id) => onAsk({ id, decision: 'deny' })),
          x: withFocused((id) => onSelect?.(id)),
        }
      : undefined,
  );
  return (
    <KeyLegend
      isOn={isOn}
      canSelect={onSelect !== undefined}
      onSwitch={(next) => {
        keepPreference(preference, next ? 'on' : 'off');
        setOn(next);
      }}
    />
  );
}

/** Elements that take letters themselves. */
const takesLetters = 'input:not([type=checkbox]), select, textarea, dialog, [contenteditable]';

/** Key that begins a shortcut of two keys, such as `g a`. */
const leader = 'g';

/** Time in which the second key of such a shortcut follows, in milliseconds; the default of tinykeys. */
const sequenceMs = 1000;

/**
 * Calls the handler of a pressed key while the component is shown. Ignores keys that the user types into a field or
 * presses together with a modifier, repeats of a held-down key, and the second key of a shortcut of every page.
 *
 * @param handlers - handlers by key; undefined for none while shortcuts are off
 */
function usePageKeys(handlers: Readonly<Record<string, () => void>> | undefined): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  // Before the first frame, so that no key is lost of who types while the page appears.
  useLayoutEffect(() => {
    let ledAtMs = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { key, target, timeStamp, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
      if (target instanceof Element && target.closest(takesLetters)) return;
      const isSecond = timeStamp - ledAtMs < sequenceMs;
      ledAtMs = key === leader ? timeStamp : Number.NEGATIVE_INFINITY;
      const handle = latest.current && Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (!handle || isSecond) return;
      event.preventDefault();
      handle();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const keys = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'approve'],
  ['d', 'deny'],
  ['x', 'select'],
] as const;

/** Legend of the keyboard shortcuts, with a checkbox that turns them off (WCAG 2.2, 2.1.4). */
function KeyLegend({
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
