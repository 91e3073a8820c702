import type { StoredEvent } from '@actlog/client';
import { useConnection } from '../../connection.ts';
import { readCallDecisions } from '../../events/call-decisions.ts';
import type { EventMark } from '../../events/event-marks.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { Decider } from '../policies/policy-link.tsx';
import { Problem } from '../problem.tsx';
import { wholeTime } from '../time.tsx';

/** Fields of a payload that the page shows by themselves. */
const knownFields = new Set(['toolName', 'argumentsHash', 'responseStatus', 'origins', 'eventId']);

function Decisions({ event }: { event: StoredEvent }) {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded(`decisions ${event.eventId}`, (signal) =>
    readCallDecisions(client, event, signal),
  );
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (data === undefined) return <p class="faint">Loading the decisions…</p>;
  if (data.length === 0) return <p class="faint">No decision of a policy about this call is kept.</p>;
  return (
    <ul class="decided">
      {data.map(({ id, decision, decidedBy, matched, decidedAt }) => (
        <li key={id}>
          <span class={`badge effect-${decision}`}>{decision.replace('_', ' ')}</span>{' '}
          {decidedBy === null ? 'no policy applies' : <Decider decision={{ decidedBy, matched }} />}
          {matched.length > 1 && <span class="faint"> and {matched.length - 1} more matched</span>}
          <span class="faint"> · {wholeTime(decidedAt)}</span>
        </li>
      ))}
    </ul>
  );
}

/** All facts of one event: ids, the whole hash, the decisions of policies, and the reasons that name it. */
export function EventDetails({ event, mark }: { event: StoredEvent; mark: EventMark | undefined }) {
  const { eventId, agentId, category, schemaVersion, sourceTimestamp, receivedAt, payload = {} } = event;
  const rest = Object.fromEntries(Object.entries(payload).filter(([name]) => !knownFields.has(name)));
  const facts: readonly (readonly [name: string, value: unknown])[] = [
    ['Time', sourceTimestamp && wholeTime(sourceTimestamp)],
    ['Received', receivedAt && wholeTime(receivedAt)],
    ['Event id', eventId],
    ['Agent', agentId],
    ['Category', category],
    ['Schema version', schemaVersion],
    ['Arguments hash', payload.argumentsHash],
    ['Status', payload.responseStatus],
  ];
  return (
    <div class="event-details">
      {mark !== undefined && mark.factors.length > 0 && (
        <ul class="why">
          {mark.factors.map(({ ruleId, title, explanation }) => (
            <li key={ruleId}>
              <strong>{title}</strong> {explanation}
            </li>
          ))}
        </ul>
      )}
      <dl>
        {facts
          .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{String(value)}</code>
              </dd>
            </div>
          ))}
      </dl>
      {Object.keys(rest).length > 0 && <pre>{JSON.stringify(rest, null, 2)}</pre>}
      {typeof payload.argumentsHash === 'string' && <Decisions event={event} />}
    </div>
  );
}
