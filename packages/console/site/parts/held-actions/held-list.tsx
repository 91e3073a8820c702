import type { PendingAction } from '@actlog/client';
import { type ActionDecisionResult, decideActions } from '@actlog/client/server';
import type { ApprovalGrantPage } from '@actlog/protocol';
import { useContext, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { type Shown, useList } from '../../hooks/use-list.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { hasKnownOwner, may } from '../../identity.ts';
import { CountWaitingContext } from '../../waiting.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { ShowMore } from '../empty-state.tsx';
import { Field } from '../field.tsx';
import { GrantList } from '../grants/grant-list.tsx';
import { Problem } from '../problem.tsx';
import { type AskedDecision, DecisionKeys } from './decision.tsx';
import { lateNews } from './decision-news.ts';
import { HeldAction } from './held-action.tsx';

/** Maximum number of decisions in one request. */
const maxAtOnce = 100;

/** List of held actions with a status message about the last one that was decided or disappeared. */
export function HeldList({ shown }: { shown: Shown<PendingAction> }) {
  const { identity } = useConnection();
  const [news, setNews] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<AskedDecision>();
  const sessions = useEach(
    'sessions',
    (shown.items ?? []).filter(({ status }) => status === 'pending').map(({ sessionId }) => sessionId),
    (client, id, signal) => client.sessions.get(id, { limit: 1 }, { signal }),
    30_000,
  );
  const countWaiting = useContext(CountWaitingContext);
  const status = useRef<HTMLParagraphElement>(null);
  const decided = useRef(new Set<string>());
  const pending = (shown.items ?? []).filter((action) => action.status === 'pending');
  const selected = pending.filter(({ id }) => chosen.has(id)).slice(0, maxAtOnce);
  // Only the actlog server decides several at once. Also for a single action, so that the next one moves nothing.
  const mayDecide = may(identity, 'decide');
  const isSelectable = pending.length > 0 && mayDecide && hasKnownOwner(identity);
  const report = (text: string) => {
    setNews(text);
    shown.reload();
    countWaiting();
  };
  const select = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      <Problem error={shown.error} />
      {pending.length > 0 && mayDecide && (
        <DecisionKeys
          actions={pending}
          onAsk={setAsked}
          onSelect={isSelectable ? (id) => select(id, !chosen.has(id)) : undefined}
        />
      )}
      {isSelectable && (
        <label class="check select-all">
          <input
            type="checkbox"
            checked={selected.length > 0 && pending.every(({ id }) => chosen.has(id))}
            onInput={({ currentTarget: { checked } }) =>
              setChosen(new Set(checked ? pending.map(({ id }) => id) : []))
            }
          />
          <span>Select all ({pending.length})</span>
        </label>
      )}
      <BatchDecision
        selected={selected}
        onClear={() => setChosen(new Set())}
        onEnd={(text) => {
          for (const { id } of selected) decided.current.add(id);
          setChosen(new Set());
          status.current?.focus({ preventScroll: true });
          report(text);
        }}
      />
      {/* Directly before the actions, because the keyboard continues here after a decision. */}
      <p ref={status} role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      {shown.items?.map((action) => (
        <HeldAction
          key={action.id}
          action={action}
          risk={action.sessionId ? sessions.get(action.sessionId)?.risk : undefined}
          asked={asked?.id === action.id ? asked.decision : undefined}
          onAsked={() => setAsked(undefined)}
          isSelected={chosen.has(action.id)}
          onSelect={isSelectable ? (isChosen) => select(action.id, isChosen) : undefined}
          onEnd={(text, hasEnded) => {
            if (hasEnded) decided.current.add(action.id);
            report(text);
          }}
          onLeave={() => {
            // A message about another action would be confusing.
            if (!decided.current.has(action.id)) {
              const gone = `${action.action?.toolName} by ${action.agentId} is no longer pending`;
              setNews(`${gone}: it was decided elsewhere or has expired.`);
            }
            // The page must not scroll, because another card would move under the pointer.
            status.current?.focus({ preventScroll: true });
          }}
        />
      ))}
      <ShowMore {...shown} />
    </>
  );
}

/** Maximum number of things that are loaded for one list. */
const maxLoaded = 20;

/**
 * Loads one thing for each id, such as the policy of each action in a list. Things that cannot be loaded are left out:
 * they are details, and the list is useful without them.
 *
 * @param kind - identifies the kind of thing
 * @param load - requests one thing
 */
function useEach<Thing>(
  kind: string,
  ids: readonly (string | null | undefined)[],
  load: (
    client: ReturnType<typeof useConnection>['client'],
    id: string,
    signal: AbortSignal,
  ) => PromiseLike<Thing>,
  everyMs?: number,
): ReadonlyMap<string, Thing> {
  const { client } = useConnection();
  const wanted = [...new Set(ids.filter((id) => typeof id === 'string'))].sort().slice(0, maxLoaded);
  const { data } = useLoaded(
    kind,
    async (signal) => {
      const loaded = await Promise.allSettled(wanted.map((id) => load(client, id, signal)));
      return new Map(
        wanted.flatMap((id, index) => {
          const result = loaded[index];
          return result?.status === 'fulfilled' ? [[id, result.value] as const] : [];
        }),
      );
    },
    { everyMs, version: JSON.stringify(wanted) },
  );
  return data ?? new Map<string, Thing>();
}

/** Bar that decides all selected actions in the same way. Renders nothing unless some are selected. */
function BatchDecision({
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

/** Labels for the statuses after a decision. */
const outcomes: Readonly<Record<string, string>> = {
  approved: 'approved',
  denied: 'denied',
  pending: 'waiting for another approver',
};

/** Returns a summary of several decisions: the number of each outcome, and each decision that was refused. */
export function batchNews(
  actions: readonly PendingAction[],
  results: readonly ActionDecisionResult[],
): string {
  const counts = new Map<string, number>();
  for (const { action } of results) {
    if (!action) continue;
    const outcome = outcomes[action.status ?? ''] ?? 'decided';
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  const refusals = results.flatMap(({ id, error }) => {
    const action = actions.find((one) => one.id === id);
    if (!error || !action) return [];
    return lateNews(action, error) ?? `${action.action?.toolName} by ${action.agentId}: ${error.message}`;
  });
  return [...(summary === '' ? [] : [`${summary}.`]), ...refusals].join(' ');
}

/** Held actions of a session, and what approvers have granted it; no heading if there are none. */
export function HeldActions({ sessionId }: { sessionId: string }) {
  const { client } = useConnection();
  const shown = useList(
    sessionId,
    (page, signal) => client.guardian.pendingActions.list({ sessionId, ...page }, { signal }),
    { everyMs: 5000, nameOf: ({ id }) => id, stays: true },
  );
  return (
    <>
      {shown.items !== undefined && shown.items.length > 0 && <h2>Waiting for approval</h2>}
      <HeldList shown={shown} />
      <SessionGrants sessionId={sessionId} />
    </>
  );
}

/** Grants for later actions of a session. Renders nothing if there are none, or for another service. */
function SessionGrants({ sessionId }: { sessionId: string }) {
  const { client, identity } = useConnection();
  const { data } = useLoaded(
    `session grants ${sessionId}`,
    async (signal) => {
      if (!hasKnownOwner(identity)) return false;
      const { items } = await client.request<ApprovalGrantPage>('GET', '/server/v1/grants', {
        query: { sessionId, limit: 1 },
        signal,
      });
      return items.length > 0;
    },
    { everyMs: 5000 },
  );
  if (data !== true) return null;
  return (
    <>
      <h2>Granted for this session</h2>
      <GrantList sessionId={sessionId} />
    </>
  );
}
