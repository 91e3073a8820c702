import type { Decide, PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { usePageKeys } from '../../hooks/use-page-keys.ts';
import { keepPreference, readPreference } from '../../preference.ts';
import { KeyLegend } from './key-legend.tsx';

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
