import type { RiskLevel, WebhookState } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../confirm-button.tsx';
import { Choice } from '../field.tsx';

const levels = { low: 'low', medium: 'medium', high: 'high', critical: 'critical' };
const overlaps = { '0': 'at once', '1': 'after a day', '7': 'after a week' };

/** Buttons with which a user tests, disables, rotates and deletes a webhook. */
export function WebhookActions({
  webhook,
  isBusy,
  onTest,
  onSwitch,
  onRiskLevel,
  onRotate,
  onDelete,
}: {
  webhook: WebhookState;
  isBusy: boolean;
  onTest: () => void;
  /** Disables an active webhook, and enables a disabled one. */
  onSwitch: () => void;
  onRiskLevel: (level: RiskLevel) => void;
  onRotate: (overlapDays: number) => void;
  onDelete: () => void;
}) {
  const [overlapDays, setOverlapDays] = useState('1');
  const isActive = webhook.status === 'active';
  return (
    <div class="webhook-actions">
      {isActive ? (
        <>
          <button type="button" aria-disabled={isBusy} onClick={() => isBusy || onTest()}>
            Send a test message
          </button>
          <ConfirmButton
            label="Disable"
            question="Disable: waiting messages fail"
            isBusy={isBusy}
            onConfirm={onSwitch}
          />
        </>
      ) : (
        <button type="button" aria-disabled={isBusy} onClick={() => isBusy || onSwitch()}>
          Enable
        </button>
      )}
      {webhook.events.includes('session.risk_raised') && (
        <Choice
          label="Notified of risk from"
          name="riskLevel"
          options={levels}
          value={webhook.riskLevel}
          onChange={(level) => onRiskLevel(level as RiskLevel)}
        />
      )}
      <Choice
        label="The old secret ends"
        name="overlap"
        options={overlaps}
        value={overlapDays}
        onChange={setOverlapDays}
      />
      <ConfirmButton
        label="Rotate the secret"
        question="Rotate: show a new secret once"
        isBusy={isBusy}
        onConfirm={() => onRotate(Number(overlapDays))}
      />
      <ConfirmButton label="Delete" question="Delete with its log" isBusy={isBusy} onConfirm={onDelete} />
    </div>
  );
}

/** State of a webhook in a word. */
export function WebhookStatus({
  status,
  failureCount,
}: {
  status: string | undefined;
  /** Failed attempts since the last success; undefined if it is not known. */
  failureCount: number | undefined;
}) {
  if (status === 'disabled') return <span class="badge bad">disabled</span>;
  if (failureCount) return <span class="badge bad">failing</span>;
  return <span class="badge good">{status ?? 'active'}</span>;
}
