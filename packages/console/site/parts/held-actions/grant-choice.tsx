import type { Decide, PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { Choice } from '../choice.tsx';
import { Field } from '../field.tsx';

type Grant = NonNullable<Decide['grant']>;

const durations = { 900: '15 minutes', 3600: '1 hour', 14400: '4 hours', 86400: '1 day' };

/** Fields with which the approver lets later actions of the session run as well; by default only this action. */
export function GrantChoice({
  action: { action, sessionId, singleUse },
  grant,
  onChange,
}: {
  action: PendingAction;
  /** Undefined for only this action. */
  grant: Grant | undefined;
  onChange: (grant: Grant | undefined) => void;
}) {
  const [durationSeconds, setDuration] = useState(3600);
  const [maxUses, setMaxUses] = useState<number>();
  const scopes = {
    '': 'only this action',
    action: 'the same action again in this session',
    tool: `any call of ${action?.toolName} in this session`,
  };
  const change = (scope: string, seconds: number, uses: number | undefined) => {
    const known = scope === 'action' || scope === 'tool' ? scope : undefined;
    onChange(known && { for: known, durationSeconds: seconds, ...(uses !== undefined && { maxUses: uses }) });
  };
  // The service refuses a grant for these.
  if (typeof sessionId !== 'string' || singleUse === true) return null;
  return (
    <div class="grant">
      <Choice
        label="An approval is for"
        name="grant"
        options={scopes}
        value={grant?.for ?? ''}
        onChange={(scope) => change(scope, durationSeconds, maxUses)}
      />
      {grant && (
        <>
          <Choice
            label="For"
            name="duration"
            options={durations as Readonly<Record<string, string>>}
            value={String(durationSeconds)}
            onChange={(value) => {
              setDuration(Number(value));
              change(grant.for, Number(value), maxUses);
            }}
          />
          <Field label="At most" hint="actions; empty: any number">
            <input
              type="number"
              min={1}
              max={1000}
              value={maxUses ?? ''}
              onInput={({ currentTarget: { value, valueAsNumber } }) => {
                const uses = value === '' ? undefined : valueAsNumber;
                setMaxUses(uses);
                change(grant.for, durationSeconds, uses);
              }}
            />
          </Field>
        </>
      )}
    </div>
  );
}
