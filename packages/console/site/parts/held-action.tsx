import { ConflictError, type Decide, type PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { may } from '../identity.ts';
import { href } from '../route.ts';
import { useAction } from '../use-action.ts';
import { Field } from './field.tsx';
import { Problem } from './problem.tsx';
import { Time } from './time.tsx';

function Outcome({ action: { status, decision } }: { action: PendingAction }) {
  if (!decision) return <p>{status === 'expired' ? 'Nobody decided in time.' : status}</p>;
  return (
    <p>
      <span class={`badge ${decision.decision === 'approve' ? 'good' : 'bad'}`}>{status}</span> by{' '}
      {decision.decidedBy} <Time at={decision.decidedAt} />
      {decision.comment && <>: “{decision.comment}”</>}
    </p>
  );
}

/** An action that waits for a person, or waited: what the agent wants to do, and the two buttons. */
export function HeldAction({
  action,
  onEnd,
}: {
  action: PendingAction;
  /** Told how it ended, by this person or by another who was faster. */
  onEnd: (news: string) => void;
}) {
  const { client, identity } = useConnection();
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
  const { toolName, arguments: shown, argumentsHash } = action.action ?? {};
  return (
    <article class="held">
      <h3>
        <code>{toolName}</code> <span class="faint">by</span> {action.agentId}
      </h3>
      <p>{action.reason}</p>
      {shown === undefined ? (
        <p class="faint">
          The agent shows no arguments. Their hash: <code>{argumentsHash}</code>
        </p>
      ) : (
        <pre>{JSON.stringify(shown, null, 2)}</pre>
      )}
      <p class="faint">
        Held <Time at={action.createdAt} />
        {action.status === 'pending' && (
          <>
            , expires <Time at={action.expiresAt} /> and is then{' '}
            {action.onTimeout === 'allow' ? 'allowed' : 'denied'}
          </>
        )}
        {typeof action.sessionId === 'string' && (
          <>
            , in <a href={href(['sessions', action.sessionId])}>{action.sessionId}</a>
          </>
        )}
        {action.policyId && (
          <>
            , by <a href={href(['policies', action.policyId])}>this policy</a>
          </>
        )}
      </p>
      {action.status !== 'pending' ? (
        <Outcome action={action} />
      ) : may(identity, 'decide') ? (
        <div class="decide">
          <Field label="Comment" hint="Shown to the agent.">
            <input
              value={comment}
              maxLength={2000}
              onInput={(event) => setComment(event.currentTarget.value)}
            />
          </Field>
          <button
            type="button"
            class="approve"
            disabled={decide.isBusy}
            onClick={() => decide.run('approve')}
          >
            Approve
          </button>
          <button type="button" class="danger" disabled={decide.isBusy} onClick={() => decide.run('deny')}>
            Deny
          </button>
        </div>
      ) : (
        <p class="faint">To decide, sign in with a key that has the scope “decide”.</p>
      )}
      <Problem error={decide.error} />
    </article>
  );
}
