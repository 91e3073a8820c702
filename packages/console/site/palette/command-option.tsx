import { Icon } from '../parts/icon.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import type { Command } from './command.ts';

/** One entry of the command palette. */
export function CommandOption({
  id,
  command: { title, icon, keys, risk },
  isChosen,
  onPoint,
  onRun,
}: {
  id: string;
  command: Command;
  /** `true` for the entry that Enter runs. */
  isChosen: boolean;
  /** Called when the pointer moves over the entry. */
  onPoint: () => void;
  onRun: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
    <div id={id} role="option" aria-selected={isChosen} onPointerMove={onPoint} onClick={onRun}>
      <Icon of={icon} />
      <span>{title}</span>
      {keys && <kbd>{keys.join(' ')}</kbd>}
      {risk !== undefined && <RiskScore risk={risk} />}
    </div>
  );
}
