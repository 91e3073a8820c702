import type { SessionDetail } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { isToldOf, may } from '../identity.ts';
import { Contained } from '../parts/contained.tsx';
import { EventTable } from '../parts/event-table.tsx';
import { ExportButton } from '../parts/export-button.tsx';
import { HeldActions } from '../parts/held-actions.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskReport } from '../parts/risk-report.tsx';
import { RiskScore } from '../parts/risk-score.tsx';
import { Time } from '../parts/time.tsx';
import { ToolPolicies } from '../parts/tool-policies.tsx';
import { UsualWork } from '../parts/usual-work.tsx';
import { WayBack } from '../parts/way-back.tsx';
import type { WantedEvent } from '../use-event-in-view.ts';
import { useLoaded } from '../use-loaded.ts';

/** Whether a session of this level is not learned by itself. */
function isSuspect(level: string | undefined): boolean {
  return level === 'high' || level === 'critical';
}

function SessionReport({ id, data }: { id: string; data: SessionDetail }) {
  const { client, identity } = useConnection();
  const [wanted, setWanted] = useState<WantedEvent>();
  // A session that has grown is scored anew; one that has not is not asked about again.
  const risk = useLoaded(id, (signal) => client.sessions.risk(id, { signal }), { version: data.eventCount });
  return (
    <>
      <dl class="summary">
        <div>
          <dt>Risk</dt>
          <dd>
            <RiskScore
              risk={
                risk.data?.score === undefined
                  ? data.risk
                  : { score: risk.data.score, level: risk.data.level ?? '' }
              }
            />
          </dd>
        </div>
        <div>
          <dt>{(data.agentIds?.length ?? 1) > 1 ? 'Agents' : 'Agent'}</dt>
          <dd>{(data.agentIds ?? [data.agentId]).join(', ')}</dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd class="number">{data.eventCount}</dd>
        </div>
        <div>
          <dt>Errors</dt>
          <dd class={`number ${data.errorCount ? 'bad' : ''}`}>{data.errorCount}</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={data.startedAt} />
          </dd>
        </div>
        <div>
          <dt>Last event</dt>
          <dd>
            <Time at={data.lastEventAt} />
          </dd>
        </div>
        <div>
          <dt>Export</dt>
          <dd>
            <ExportButton id={id} eventCount={data.eventCount ?? 0} />
          </dd>
        </div>
      </dl>
      <HeldActions sessionId={id} />
      <section aria-labelledby="risk">
        <h2 id="risk">Risk</h2>
        <Problem error={risk.error} onRetry={risk.reload} />
        {risk.data !== undefined && (
          <Contained>
            <RiskReport risk={risk.data} onShow={(eventId) => setWanted({ eventId })} />
          </Contained>
        )}
        {may(identity, 'manage') && <ToolPolicies tools={data.toolNames} />}
        {isSuspect(risk.data?.level) && isToldOf(identity) && may(identity, 'manage') && (
          <UsualWork sessionId={id} agentId={data.agentId ?? ''} lastEventAt={data.lastEventAt} />
        )}
      </section>
      <section aria-labelledby="events">
        <h2 id="events" tabIndex={-1}>
          Events
        </h2>
        <Contained>
          <EventTable id={id} eventCount={data.eventCount ?? 0} startedAt={data.startedAt} wanted={wanted} />
        </Contained>
      </section>
    </>
  );
}

/** One session: what happened in it, how risky that was and why, and what of it waits for a person. */
export function Session({ id }: { id: string }) {
  const { client } = useConnection();
  const { data, error } = useLoaded(id, (signal) => client.sessions.get(id, { limit: 1 }, { signal }), {
    everyMs: 5000,
  });
  return (
    <>
      <WayBack place="sessions" title="Sessions" />
      <h1>{id}</h1>
      <Problem error={error} />
      {data !== undefined && <SessionReport id={id} data={data} />}
    </>
  );
}
