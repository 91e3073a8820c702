import type { PendingAction } from '@actlog/client';
import { useContext, useRef, useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { useEach } from '../../hooks/use-each.ts';
import type { Shown } from '../../hooks/use-list.ts';
import { hasKnownOwner, may } from '../../identity.ts';
import { CountWaitingContext } from '../../waiting.ts';
import { Problem } from '../problem.tsx';
import { ShowMore } from '../show-more.tsx';
import { BatchDecision } from './batch-decision.tsx';
import { type AskedDecision, DecisionKeys } from './decision-keys.tsx';
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
