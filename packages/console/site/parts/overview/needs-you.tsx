import type { PendingAction } from '@actlog/client';
import type { Overview, RiskySession } from '@actlog/protocol';
import { countText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { lazyPage } from '../lazy-page.tsx';
import { RiskScore } from '../risk/risk-score.tsx';
import { Time } from '../time.tsx';

// The cards of held actions are a large script that most visits do not need.
const HeldList = lazyPage(
  async () => (await import('../held-actions/held-list.tsx')).HeldList,
  <p class="faint">Loading…</p>,
);

/** Maximum held actions, and risky sessions, that are shown. */
const [mostActions, mostSessions] = [2, 3];

/** First row of the overview: what a person has to decide, look at or repair. */
export function NeedsYou({
  // Another version of the service names no channels.
  overview: { riskiestSessions, waitingActions, webhooks, failingChannels = [] },
  actions,
  spanLabel,
  range,
  onChange,
}: {
  overview: Overview;
  /** Newest actions that wait. */
  actions: readonly PendingAction[];
  /** Span of time in words, such as "24 hours". */
  spanLabel: string;
  /** Span of time in the address of a list of sessions. */
  range: Readonly<Record<string, string>>;
  /** Called when an action was decided. */
  onChange: () => void;
}) {
  const risky = riskiestSessions.filter(({ risk }) => risk.level !== 'low').slice(0, mostSessions);
  const failing = webhooks.filter(
    ({ status, failingSince }) => status === 'disabled' || failingSince !== null,
  );
  const isCalm = actions.length === 0 && risky.length === 0 && failing.length + failingChannels.length === 0;
  return (
    <section class={isCalm ? 'needs calm' : 'needs'} aria-labelledby="needs">
      <h2 id="needs">{isCalm ? 'Nothing needs you' : 'Needs you'}</h2>
      {isCalm ? (
        <p>
          No action waits for a person, and no session of the last {spanLabel} stands out
          {webhooks.length > 0 && '. Every webhook is delivered'}.
        </p>
      ) : (
        <div class="needs-parts">
          {actions.length > 0 && (
            <WaitingActions actions={actions} count={waitingActions} onChange={onChange} />
          )}
          {risky.length > 0 && <RiskySessions sessions={risky} range={range} />}
          <Failures
            title="Failing webhooks"
            place="webhooks"
            failures={failing.map((one) => ({ ...one, name: one.url, to: href(['webhooks', one.id]) }))}
          />
          <Failures
            title="Failing channels"
            place="channels"
            failures={failingChannels.map((one) => ({
              ...one,
              kind: kindNames[one.kind],
              to: href(['channels']),
            }))}
          />
        </div>
      )}
    </section>
  );
}

function WaitingActions({
  actions,
  count,
  onChange,
}: {
  actions: readonly PendingAction[];
  count: number;
  onChange: () => void;
}) {
  const items = actions.slice(0, mostActions);
  const shown = { items, error: undefined, hasMore: false, more: () => {}, reload: onChange };
  return (
    <section class="needs-actions" aria-labelledby="waiting">
      <h3 id="waiting">
        <a href={href(['approvals'])}>Waiting for approval</a> <span class="badge">{countText(count)}</span>
      </h3>
      <HeldList shown={shown} />
      {count > items.length && (
        <p>
          <a href={href(['approvals'])}>All {countText(count)} that wait</a>
        </p>
      )}
    </section>
  );
}

function RiskySessions({
  sessions,
  range,
}: {
  sessions: readonly RiskySession[];
  range: Readonly<Record<string, string>>;
}) {
  return (
    <section aria-labelledby="top-risk">
      <h3 id="top-risk">
        <a href={href(['sessions'], { ...range, order: 'risk' })}>Riskiest sessions</a>
      </h3>
      <ol class="top-risk">
        {sessions.map(({ id, agentId, risk, sentence, startedAt }) => (
          <li key={id} class={`level-${risk.level}`}>
            <p class="apart">
              <a class="brief" title={id} href={href(['sessions', id])}>
                {id}
              </a>
              <RiskScore risk={risk} />
            </p>
            {/* Another version of the service has no sentence. */}
            {sentence !== undefined && <p translate={false}>{sentence}</p>}
            <p class="faint">
              <a class="brief" title={agentId} href={href(['agents', agentId])}>
                {agentId}
              </a>{' '}
              · <Time at={startedAt} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}

const kindNames = { slack: 'Slack', teams: 'Teams', mail: 'Mail', push: 'Push' } as const;

/** A webhook or channel whose messages do not arrive. */
interface Failure {
  readonly id: string;
  readonly name: string;
  /** Address of its page. */
  readonly to: string;
  readonly kind?: string;
  readonly status: string;
  readonly failingSince: string | null;
  /** Number of its messages that wait. */
  readonly waiting?: number;
}

function Failures({
  title,
  place,
  failures,
}: {
  title: string;
  place: 'webhooks' | 'channels';
  failures: readonly Failure[];
}) {
  if (failures.length === 0) return null;
  const id = `failing-${place}`;
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>
        <a href={href([place])}>{title}</a>
      </h3>
      <ul class="failing">
        {failures.map(({ id, name, to, kind, status, failingSince, waiting }) => (
          <li key={id}>
            <a class="brief" title={name} href={to}>
              {name}
            </a>{' '}
            {kind && <span class="faint">{kind}</span>}{' '}
            {status === 'disabled' ? (
              <span class="badge bad">disabled</span>
            ) : (
              <span class="faint">
                fails since <Time at={failingSince} />
                {waiting !== undefined && `, ${countText(waiting)} waiting`}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
