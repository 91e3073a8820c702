import { ConflictError, type Decide, type PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { ConfirmDecision } from './confirm-decision.tsx';
import { decidedNews, lateNewsOf } from './decision-news.ts';
import { GrantChoice } from './grant-choice.tsx';

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
  const decide = useAction(async (decision: Decide['decision']) => {
    const given = comment.trim();
    const isGranted = decision === 'approve' && grant !== undefined;
    const body = { decision, ...(given && { comment: given }), ...(isGranted && { grant }) };
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
            name={`${action.action?.toolName} by ${action.agentId}`}
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
                {words}
              </button>
            ))}
      </div>
      <Problem error={decide.error} />
    </>
  );
}
