import { NotFoundError, ResponseShapeError } from '@actlog/client';
import type { Overview as OverviewData } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { overviewQuery, overviewSpan, overviewSpans, rangeOf, shownActions } from '../overview-span.ts';
import { FirstEvent } from '../parts/events/first-event.tsx';
import { ActivityCharts, firstCharts, laterCharts } from '../parts/overview/activity-charts.tsx';
import { NeedsYou } from '../parts/overview/needs-you.tsx';
import { Outliers, RiskiestSessions, WebhookStates } from '../parts/overview/panel-table.tsx';
import { Totals } from '../parts/overview/totals.tsx';
import { Problem } from '../parts/problem.tsx';
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
