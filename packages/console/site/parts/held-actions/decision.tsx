import { ConflictError, type Decide, type PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { Field } from '../field.tsx';
import { Problem } from '../problem.tsx';

const buttons = [
  ['approve', 'Approve', 'approve'],
  ['deny', 'Deny', 'danger'],
] as const;

/** Comment field and buttons with which the user decides about an action. */
export function Decision({
  action,
  titleId,
  isOpen,
  onEnd,
}: {
  action: PendingAction;
  /** Id of the element that describes the action, for screen reader users at the buttons. */
  titleId: string;
  /** `true` if the buttons are enabled. */
  isOpen: boolean;
  /** Called with the outcome, decided by this user or by someone faster. */
  onEnd: (news: string) => void;
}) {
  const { client } = useConnection();
  const [comment, setComment] = useState('');
  const decide = useAction(async (decision: Decide['decision']) => {
    const given = comment.trim();
    const body = { decision, ...(given && { comment: given }) };
    try {
      const { status } = await client.guardian.pendingActions.decide(action.id, body);
      onEnd(`${action.action?.toolName} by ${action.agentId}: ${status}.`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      onEnd(error.message);
    }
  });
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what a form sends */}
      <div class="decide" role="group" aria-labelledby={titleId}>
        <Field label="Comment, shown to the agent">
          <input
            value={comment}
            maxLength={2000}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </Field>
        {buttons.map(([decision, words, look]) => (
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
