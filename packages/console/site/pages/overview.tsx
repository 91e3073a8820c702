import { NotFoundError, type PendingAction, ResponseShapeError } from '@actlog/client';
import { type Overview as OverviewData, type RiskySession, riskLevels } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { countText, shareText, shortCount } from '../count-text.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { overviewQuery, overviewSpan, overviewSpans, rangeOf, shownActions } from '../overview-span.ts';
import { FirstEvent } from '../parts/events/first-event.tsx';
import { lazyPage } from '../parts/lazy-page.tsx';
import { ActivityCharts, firstCharts, laterCharts } from '../parts/overview/activity-charts.tsx';
import { Outliers, RiskiestSessions, WebhookStates } from '../parts/overview/panel-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';
import { Sessions } from './sessions.tsx';

/** Page with what happened in a span of time, and what needs attention. */
export function Overview({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const span = overviewSpan(query.get('span'));
  const { data, error, reload } = useLoaded(
    `overview ${span.name}`,
    async (signal) => {
      const [overview, actions] = await Promise.all([
        client.request<OverviewData>('GET', '/server/v1/overview', {
          query: overviewQuery(span, now()),
          signal,
        }),
        client.guardian.pendingActions.list({ limit: shownActions }, { signal }),
      ]);
      const isQuiet = overview.totals.events === 0 && overview.totals.sessions === 0;
      const isNew = isQuiet && (await client.sessions.list({ limit: 1 }, { signal })).items.length === 0;
      return { overview, actions: actions.items, isNew };
    },
    { everyMs: 10_000 },
  );
  const [isOpen, setIsOpen] = useState(false);
  // A service without the endpoint still has sessions.
  if (error instanceof NotFoundError || error instanceof ResponseShapeError)
    return <Sessions query={query} />;
  return (
    <>
      <div class="apart title">
        <h1>Overview</h1>
        <nav class="tabs" aria-label="Time">
          {overviewSpans.map(({ name, label }) => (
            <a
              key={name}
              href={href([], { span: name })}
              aria-current={name === span.name ? 'true' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
      </div>
      <Problem error={error} onRetry={reload} />
      {data === undefined && error === undefined && <OverviewLoading />}
      {data?.isNew && <FirstEvent />}
      {data !== undefined && (!data.isNew || data.overview.waitingActions > 0) && (
        <div class="overview">
          <NeedsYou
            overview={data.overview}
            actions={data.actions}
            spanLabel={span.label}
            range={rangeOf(data.overview)}
            onChange={reload}
          />
          <Totals overview={data.overview} />
          <ActivityCharts key={span.name} overview={data.overview} span={span} names={firstCharts} />
          <div class="panels">
            <Outliers kind="agent" rows={data.overview.agents} range={rangeOf(data.overview)} />
            <Outliers kind="tool" rows={data.overview.tools} range={rangeOf(data.overview)} />
          </div>
          <details class="more" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
            <summary>Calls, decisions, all risky sessions and webhooks</summary>
            {isOpen && (
              <div class="overview">
                <ActivityCharts key={span.name} overview={data.overview} span={span} names={laterCharts} />
                <div class="panels">
                  <RiskiestSessions
                    sessions={data.overview.riskiestSessions}
                    range={rangeOf(data.overview)}
                  />
                  <WebhookStates webhooks={data.overview.webhooks} />
                </div>
              </div>
            )}
          </details>
        </div>
      )}
    </>
  );
}

/** Blocks as large as the totals and charts of an overview, while it loads. */
function OverviewLoading() {
  const blocks = (count: number) => Array.from({ length: count }, (_, block) => <span key={block} />);
  return (
    <div class="overview skeleton">
      <p class="hidden">Loading…</p>
      <div class="totals">{blocks(5)}</div>
      <div class="charts">{blocks(2)}</div>
    </div>
  );
}

/** The totals of an overview, each a link to its list. */
function Totals({ overview }: { overview: OverviewData }) {
  const { totals, waitingActions } = overview;
  const range = rangeOf(overview);
  const { calls, errors, denials, sessions, sessionsByLevel } = totals;
  const risky = sessionsByLevel.high + sessionsByLevel.critical;
  return (
    <ul class="totals">
      <Total
        label="Tool calls"
        count={calls}
        note={`in ${countText(sessions)} ${sessions === 1 ? 'session' : 'sessions'}`}
        to={href(['events'], range)}
      />
      <Total
        label="Errors"
        count={errors}
        note={`${shareText(errors, calls)} of calls`}
        to={href(['events'], { status: 'error', ...range })}
        tone="mark-error"
      />
      <Total
        label="Denials"
        count={denials}
        note={`${shareText(denials, calls)} of calls`}
        to={href(['events'], { status: 'denied', ...range })}
        tone="mark-denied"
      />
      <Total
        label="Risky sessions"
        count={risky}
        note={`${shareText(risky, sessions)} high or critical`}
        to={href(['sessions'], { risk: String(riskLevels.high), order: 'risk', ...range })}
        tone="mark-risk"
      />
      <Total
        label="Waiting"
        count={waitingActions}
        note="for approval, now"
        to={href(['approvals'])}
        tone="mark-held"
      />
    </ul>
  );
}

function Total({
  label,
  count,
  note,
  to,
  tone = '',
}: {
  label: string;
  count: number;
  note: string;
  to: string;
  /** Class of a count above 0. */
  tone?: string;
}) {
  return (
    <li>
      <a href={to}>
        <span>{label}</span> <b class={`number ${count > 0 ? tone : ''}`}>{shortCount(count)}</b>{' '}
        <span class="faint">{note}</span>
      </a>
    </li>
  );
}

// The cards of held actions are a large script that most visits do not need.
const HeldList = lazyPage(
  async () => (await import('../parts/held-actions/held-list.tsx')).HeldList,
  <p class="faint">Loading…</p>,
);

/** Maximum held actions, and risky sessions, that are shown. */
const [mostActions, mostSessions] = [2, 3];

/** First row of the overview: what a person has to decide, look at or repair. */
function NeedsYou({
  // Another version of the service names no channels.
  overview: { riskiestSessions, waitingActions, webhooks, failingChannels = [] },
  actions,
  spanLabel,
  range,
  onChange,
}: {
  overview: OverviewData;
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
