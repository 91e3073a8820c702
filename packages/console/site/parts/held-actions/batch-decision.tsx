import type { PendingAction } from '@actlog/client';
import { decideActions } from '@actlog/client/server';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Field } from '../field.tsx';
import { Problem } from '../problem.tsx';
import { batchNews } from './batch-news.ts';

/** Bar that decides all selected actions in the same way. Renders nothing unless some are selected. */
export function BatchDecision({
  selected,
  onClear,
  onEnd,
}: {
  /** At most 100. */
  selected: readonly PendingAction[];
  onClear: () => void;
  /** Called with a summary of the outcomes. */
  onEnd: (news: string) => void;
}) {
  const { client } = useConnection();
  const [comment, setComment] = useState('');
  const decide = useAction(async (decision: 'approve' | 'deny') => {
    const given = comment.trim();
    const body = { decision, ...(given && { comment: given }) };
    const results = await decideActions(
      client,
      selected.map(({ id }) => ({ id, ...body })),
    );
    setComment('');
    onEnd(batchNews(selected, results));
  });
  if (selected.length === 0) return null;
  const actions = selected.length === 1 ? '1 action' : `${selected.length} actions`;
  return (
    <section class="batch" aria-label="Selected actions">
      <div class="decide">
        <Field label={`Comment for ${actions}, shown to the agents`}>
          <input
            value={comment}
            maxLength={2000}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </Field>
        <ConfirmButton
          label={`Approve ${actions}`}
          question={`Approve ${actions}?`}
          isBusy={decide.isBusy}
          onConfirm={() => decide.run('approve')}
        />
        <ConfirmButton
          label={`Deny ${actions}`}
          question={`Deny ${actions}?`}
          isBusy={decide.isBusy}
          onConfirm={() => decide.run('deny')}
        />
        <button type="button" class="quiet" onClick={onClear}>
          Clear selection
        </button>
      </div>
      <Problem error={decide.error} />
    </section>
  );
}
