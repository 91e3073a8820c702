import type { Decide, PendingAction } from '@actlog/client';
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readOrigins } from '../../argument-origins.ts';
import { useConnection } from '../../connection.ts';
import { may } from '../../identity.ts';
import { href } from '../../route.ts';
import { OriginList } from '../origins/origin-list.tsx';
import { PolicyLink } from '../policies/policy-link.tsx';
import { RiskScore } from '../risk/risk-score.tsx';
import { ActingAgent, actorName, Time, TraceLink, Verified, VerifiedBy } from '../time.tsx';
import { ChangeList } from './argument-changes.tsx';
import { Decision } from './decision.tsx';

function Outcome({ action }: { action: PendingAction }) {
  const { status, decision, grantId, changedArguments, executedHash } = action;
  if (status === 'withdrawn') {
    return (
      <p>
        <span class="badge">withdrawn</span> The agent’s own prompt was answered where it runs.
      </p>
    );
  }
  if (!decision) return <p>{status === 'expired' ? 'Nobody decided in time.' : status}</p>;
  return (
    <>
      <p>
        <span class={`badge ${decision.decision === 'approve' ? 'good' : 'bad'}`}>{status}</span>
        {changedArguments != null && ' with changes'} by{' '}
        <bdi translate={false}>{actorName(decision.decidedBy, decision.principal)}</bdi>{' '}
        <Time at={decision.decidedAt} />
        {decision.comment && <>: “{decision.comment}”</>}
        {typeof grantId === 'string' && (
          <>
            , also for <a href={href(['approvals'], { status: 'grants' })}>later actions</a>
          </>
        )}
      </p>
      {changedArguments != null && (
        <>
          <ChangeList action={action} changes={changedArguments} />
          <p class="faint">
            {typeof executedHash === 'string' ? (
              <>
                The agent ran it with the changed arguments. Their hash: <code>{executedHash}</code>
              </>
            ) : (
              'The agent has not run it with the changed arguments.'
            )}
          </p>
        </>
      )}
    </>
  );
}

/** Card of a held action: what the agent wants to do, and the decision buttons. */
export function HeldAction({
  action,
  risk,
  isSelected,
  onSelect,
  asked,
  onAsked,
  onEnd,
  onLeave,
}: {
  action: PendingAction;
  /** Risk of its session; undefined if it is not known, null if it is not scored. */
  risk: { readonly score: number; readonly level: string } | null | undefined;
  /** Decision to confirm, because the user pressed its key. */
  asked: Decide['decision'] | undefined;
  /** Called when the user has confirmed or canceled it. */
  onAsked: () => void;
  /** `true` if it is selected for a decision about several. */
  isSelected: boolean;
  /** Called when the user selects it, or no longer; undefined if it cannot be selected. */
  onSelect: ((isSelected: boolean) => void) | undefined;
  /** Called with the outcome, decided by this user or by someone faster, and `true` if the action has ended. */
  onEnd: (news: string, hasEnded: boolean) => void;
  /** Called when it disappears while it has the focus. */
  onLeave: () => void;
}) {
  const { identity } = useConnection();
  const titleId = useId();
  const card = useRef<HTMLElement>(null);
  const isSettled = useSettled(card);
  // Users who were working in it continue in the list, not at the top of the page.
  useLayoutEffect(() => () => void (card.current?.contains(document.activeElement) && onLeave()), []);
  const { toolName, arguments: shown, argumentsJson, argumentsHash, origins } = action.action ?? {};
  return (
    <article class="held" id={`action-${action.id}`} aria-labelledby={titleId} ref={card} tabIndex={-1}>
      {/* The decision is about the original text, not a translation. */}
      <div class="held-title">
        {onSelect !== undefined && action.status === 'pending' && (
          <input
            type="checkbox"
            aria-label="Select"
            aria-describedby={titleId}
            checked={isSelected}
            onInput={(event) => onSelect(event.currentTarget.checked)}
          />
        )}
        <h3 id={titleId} translate={false}>
          <code>{toolName}</code> <span class="faint">by</span>{' '}
          <ActingAgent {...action} agentId={action.agentId} />
          {typeof action.principal === 'string' && (
            <>
              {' '}
              <span class="faint">for</span> <bdi>{action.principal}</bdi>
              <Verified identity={action.identity} what="principal" />
            </>
          )}
        </h3>
        {risk !== undefined && (
          <span class="held-risk">
            <span class="faint">Risk of the session</span> <RiskScore risk={risk} />
          </span>
        )}
      </div>
      <p translate={false}>{action.reason}</p>
      <VerifiedBy identity={action.identity} />
      {typeof action.traceparent === 'string' && (
        <p class="faint">
          Trace <TraceLink traceparent={action.traceparent} />
        </p>
      )}
      {shown === undefined ? (
        <p class="faint">
          The agent shows no arguments. Their hash: <code>{argumentsHash}</code>
        </p>
      ) : (
        <>
          <p class="faint">
            Shown by the caller, which chooses what to show. The decision holds for exactly this and the hash{' '}
            <code>{argumentsHash}</code>; the service cannot compare the two.
          </p>
          <pre translate={false}>{argumentsText(shown, argumentsJson)}</pre>
        </>
      )}
      {typeof argumentsJson !== 'string' && mayBeRounded(shown) && (
        <p class="warn">
          Whole numbers beyond {Number.MAX_SAFE_INTEGER} may differ in their last digits from what the agent
          sent.
        </p>
      )}
      <ActionOrigins origins={origins} />
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
            , by the policy <PolicyLink id={action.policyId} name={action.policyName} />
          </>
        )}
      </p>
      <GivenApprovals action={action} />
      {action.singleUse === true && (
        <p class="faint">
          This approval is for one call
          {typeof action.usedAt === 'string' && (
            <>
              , which ran <Time at={action.usedAt} />
            </>
          )}
          .
        </p>
      )}
      {action.status !== 'pending' ? (
        <Outcome action={action} />
      ) : may(identity, 'decide') ? (
        <Decision
          action={action}
          titleId={titleId}
          isOpen={isSettled}
          asked={asked}
          onAsked={() => {
            card.current?.focus({ preventScroll: true });
            onAsked();
          }}
          onEnd={onEnd}
        />
      ) : (
        <p class="faint">
          {identity.role === undefined
            ? 'To decide, sign in with a key that has the scope “decide”.'
            : `Your role (${identity.role}) cannot decide. Ask an administrator for the role “approver”.`}
        </p>
      )}
    </article>
  );
}

/** Maximum number of origins that are shown at once. */
const most = 8;

/** Section of a held action with the origins of its arguments; nothing if it has none. */
function ActionOrigins({ origins }: { origins: unknown }) {
  const read = readOrigins(origins);
  if (read === undefined) return null;
  return (
    <>
      <h4>Where the arguments came from</h4>
      <OriginList origins={read} most={most} />
    </>
  );
}

/** Time that a user needs to notice a moved element, in milliseconds. */
const noticedAfterMs = 600;

/**
 * `true` if an element has not moved for a moment. Content that appears or disappears above it moves it, and
 * a press that
 * was meant for its neighbor would hit it.
 */
function useSettled(element: RefObject<HTMLElement | null>): boolean {
  const [place, setPlace] = useState<number>();
  const [settledAt, setSettledAt] = useState<number>();
  useLayoutEffect(() => setPlace(element.current?.offsetTop));
  useEffect(() => {
    const timer = setTimeout(() => setSettledAt(place), noticedAfterMs);
    return () => clearTimeout(timer);
  }, [place]);
  return place !== undefined && place === settledAt;
}

/**
 * `true` if a JSON value contains an integer so large that parsing it may have changed its last digits, so that it may
 * differ from the one that was sent.
 */
function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);
}

/**
 * Returns shown arguments as JSON over several lines.
 *
 * @param exact - the same as JSON text with all digits, if the service sent it because parsers round a number
 */
function argumentsText(shown: unknown, exact: unknown): string {
  if (typeof exact !== 'string') return JSON.stringify(shown, null, 2);
  const { rawJSON } = JSON as { readonly rawJSON?: (source: string) => unknown };
  // Older browsers cannot parse it without rounding.
  if (!rawJSON) return exact;
  const keep = (_name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source ? rawJSON(context.source) : value;
  return JSON.stringify(JSON.parse(exact, keep as Parameters<typeof JSON.parse>[1]), null, 2);
}

/** Approvals of an action that needs more than one, or only certain approvers. Renders nothing for others. */
function GivenApprovals({ action: { approvals, status } }: { action: PendingAction }) {
  if (approvals === undefined) return null;
  const { required, given, approverKeys, approverGroups, notRequester, verifiedPrincipal } = approvals;
  // Other services have no groups.
  const groups = approverGroups ?? null;
  const isPlain = approverKeys === null && groups === null && !notRequester && !verifiedPrincipal;
  if (required === 1 && isPlain) return null;
  return (
    <>
      <p>
        {required > 1 && (
          <>
            <strong>
              {given.length} of {required} approvals
            </strong>
            {status === 'pending' && ' so far. One denial denies. '}
          </>
        )}
        {approverKeys !== null && <span class="faint">Only {approverKeys.join(', ')} can approve. </span>}
        {groups !== null && <span class="faint">Only people of {groups.join(', ')} can approve. </span>}
        {verifiedPrincipal && (
          <span class="faint">Nobody can approve unless a token names the principal.</span>
        )}
        {notRequester && <span class="faint">The requester cannot approve.</span>}
      </p>
      {required > 1 && given.length > 0 && (
        <ol class="approvals">
          {given.map((approval) => (
            <li key={approval.approvedBy}>
              <bdi translate={false}>{actorName(approval.approvedBy, approval.principal)}</bdi>{' '}
              <Time at={approval.approvedAt} />
              {approval.comment !== null && <>: “{approval.comment}”</>}
              {approval.grant !== null && <span class="faint"> (also for later actions)</span>}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
