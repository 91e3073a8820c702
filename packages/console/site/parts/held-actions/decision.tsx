import { ConflictError, type Decide, type PendingAction } from '@actlog/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { Choice, Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { ChangeFields, ChangeList, type Changes } from './argument-changes.tsx';
import { decidedNews, lateNewsOf } from './decision-news.ts';

const buttons = [
  ['approve', 'Approve', 'approve'],
  ['deny', 'Deny', 'danger'],
] as const;

/** Comment field and buttons with which the user decides about an action. */
export function Decision({
  action,
  titleId,
  isOpen,
  asked,
  onAsked,
  onEnd,
}: {
  action: PendingAction;
  /** Id of the element that describes the action, for screen reader users at the buttons. */
  titleId: string;
  /** `true` if the buttons are enabled. */
  isOpen: boolean;
  /** Decision to confirm, because the user pressed its key. */
  asked: Decide['decision'] | undefined;
  /** Called when the user has confirmed or canceled it. */
  onAsked: () => void;
  /** Called with the outcome, decided by this user or by someone faster, and `true` if the action has ended. */
  onEnd: (news: string, hasEnded: boolean) => void;
}) {
  const { client, identity } = useConnection();
  const [comment, setComment] = useState('');
  const [grant, setGrant] = useState<Decide['grant']>();
  const proposed = action.changedArguments ?? null;
  const [changes, setChanges] = useState<Changes>(proposed ?? {});
  const isChanged = Object.keys(changes).length > 0;
  const decide = useAction(async (decision: Decide['decision']) => {
    const given = comment.trim();
    const isGranted = decision === 'approve' && grant !== undefined;
    // If another approver changed them, the decision says which arguments it is for.
    const isForChanges = decision === 'approve' && (isChanged || proposed !== null);
    const body = {
      decision,
      ...(given && { comment: given }),
      ...(isGranted && { grant }),
      ...(isForChanges && { changedArguments: changes }),
    };
    try {
      const decided = await client.guardian.pendingActions.decide(action.id, body);
      onEnd(decidedNews(decided), decided.status !== 'pending');
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      onEnd(lateNewsOf(action, error) ?? error.message, true);
    }
  });
  const hasApproved = action.approvals?.given.some(
    ({ approvedBy, principal }) =>
      approvedBy === identity.id || (identity.role !== undefined && principal === identity.name),
  );
  return (
    <>
      {!hasApproved && <ChangeFields action={action} changes={changes} onChange={setChanges} />}
      <ChangeList action={action} changes={changes} />
      {!hasApproved && <GrantChoice action={action} grant={grant} onChange={setGrant} />}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends */}
      <div class="decide" role="group" aria-labelledby={titleId}>
        <Field label="Comment, shown to the agent">
          <input
            value={comment}
            maxLength={2000}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </Field>
        {asked !== undefined && !(asked === 'approve' && hasApproved) && (
          <ConfirmDecision
            decision={asked}
            name={`${action.action?.toolName} by ${action.agentId}${asked === 'approve' && isChanged ? ' with changes' : ''}`}
            isBusy={decide.isBusy}
            onConfirm={() => {
              onAsked();
              decide.run(asked);
            }}
            onCancel={onAsked}
          />
        )}
        {asked === undefined &&
          buttons
            .filter(([decision]) => decision === 'deny' || !hasApproved)
            .map(([decision, words, look]) => (
              <button
                key={decision}
                type="button"
                class={look}
                aria-disabled={!isOpen || decide.isBusy}
                onClick={() => isOpen && decide.run(decision)}
              >
                {decision === 'approve' && isChanged ? 'Approve with changes' : words}
              </button>
            ))}
      </div>
      <Problem error={decide.error} />
    </>
  );
}

/** Confirmation of a decision that was made with a key: Enter decides, Escape returns to the card. */
function ConfirmDecision({
  decision,
  name,
  isBusy,
  onConfirm,
  onCancel,
}: {
  decision: Decide['decision'];
  /** Name of the action, such as "refund by billing". */
  name: string;
  isBusy: boolean;
  onConfirm: () => void;
  onCancel: () => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), [decision]);
  const question = `${decision === 'approve' ? 'Approve' : 'Deny'} ${name}?`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends
    <span
      class="buttons"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <button
        ref={button}
        type="button"
        class={decision === 'approve' ? 'approve' : 'danger'}
        aria-disabled={isBusy}
        // A held-down key must not confirm its own request.
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={() => isBusy || onConfirm()}
      >
        {question}
      </button>
      <button type="button" class="quiet" onClick={onCancel}>
        Cancel
      </button>
    </span>
  );
}

type Grant = NonNullable<Decide['grant']>;

const durations = { 900: '15 minutes', 3600: '1 hour', 14400: '4 hours', 86400: '1 day' };

/** Fields with which the approver lets later actions of the session run as well; by default only this action. */
function GrantChoice({
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
