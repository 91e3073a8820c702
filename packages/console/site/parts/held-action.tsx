import type { PendingAction } from '@actlog/client';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { may } from '../identity.ts';
import { mayBeRounded } from '../may-be-rounded.ts';
import { href } from '../route.ts';
import { useSettled } from '../use-settled.ts';
import { visibleText } from '../visible-text.ts';
import { Decision } from './decision.tsx';
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
  onLeave,
}: {
  action: PendingAction;
  /** Told how it ended, by this person or by another who was faster. */
  onEnd: (news: string) => void;
  /** Told when it goes while the focus is in it. */
  onLeave: () => void;
}) {
  const { identity } = useConnection();
  const titleId = useId();
  const card = useRef<HTMLElement>(null);
  const isSettled = useSettled(card);
  // Whoever was at work in it goes on in the list, not at the beginning of the page.
  useLayoutEffect(() => () => void (card.current?.contains(document.activeElement) && onLeave()), []);
  const { toolName, arguments: shown, argumentsHash } = action.action ?? {};
  return (
    <article class="held" id={`action-${action.id}`} ref={card}>
      {/* What the agent says is decided about as it stands, and not in translation. */}
      <h3 id={titleId} translate={false}>
        <code>{visibleText(toolName ?? '')}</code> <span class="faint">by</span>{' '}
        {visibleText(action.agentId ?? '')}
      </h3>
      <p translate={false}>{visibleText(action.reason ?? '')}</p>
      {shown === undefined ? (
        <p class="faint">
          The agent shows no arguments. Their hash: <code>{argumentsHash}</code>
        </p>
      ) : (
        <pre translate={false}>{visibleText(JSON.stringify(shown, null, 2))}</pre>
      )}
      {mayBeRounded(shown) && (
        <p class="warn">
          Whole numbers beyond {Number.MAX_SAFE_INTEGER} may differ in their last digits from what the agent
          sent.
        </p>
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
        <Decision action={action} titleId={titleId} isOpen={isSettled} onEnd={onEnd} />
      ) : (
        <p class="faint">To decide, sign in with a key that has the scope “decide”.</p>
      )}
    </article>
  );
}
