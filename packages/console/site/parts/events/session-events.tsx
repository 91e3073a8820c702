import {
  type Actlog,
  NotFoundError,
  type RiskFactor,
  type SessionDetail,
  type StoredEvent,
} from '@actlog/client';
import type { PolicyDecision, PolicyDecisionPage } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { countTexts, originsSummary } from '../../argument-origins.ts';
import { useConnection } from '../../connection.ts';
import { countText } from '../../count-text.ts';
import { deniedStatus, type EventMark, eventSubject, markReasons } from '../../events/event-marks.ts';
import {
  type CallOrigins,
  isApart,
  type EventRow as Row,
  rowId,
  timeSinceStart,
} from '../../events/event-rows.ts';
import { useLoaded } from '../../hooks/use-loaded.ts';
import { firstEvents, type SessionStory } from '../../hooks/use-session-story.ts';
import type { VirtualRows } from '../../hooks/use-virtual-rows.ts';
import { OriginList } from '../origins/origin-list.tsx';
import { Decider, PolicyLink } from '../policies/policy-link.tsx';
import { Problem } from '../problem.tsx';
import { MarkBadges } from '../story/timeline.tsx';
import { ActingAgent, TraceLink, wholeTime } from '../time.tsx';
import { EventControls } from './event-controls.tsx';

function progress({ log, unread, missed, rows, selection }: SessionStory): string {
  const read = log.events.length;
  if (log.before > 0) return '';
  if (missed !== undefined) return `The event is not among the first ${missed}.`;
  if (selection !== 'all' && unread > 0) {
    return `${rows.length} found so far, in the first ${read} of ${read + unread} events. Reading on…`;
  }
  if (log.isReading && unread > 0) return `Reading: ${read} of ${read + unread} events…`;
  if (unread > 0) return `${read} of ${read + unread} events are read. Scroll to read on.`;
  if (selection !== 'all') return `${rows.length} of ${read} events.`;
  return '';
}

/** The events of a session, oldest first, with controls that select and find them. */
export function SessionEvents({ session, story }: { session: SessionDetail; story: SessionStory }) {
  const { log, rows, unread, marks, virtual, selection } = story;
  const { startedAt, lastEventAt } = session;
  const joined = log.events.length - new Set(rows.map(({ event }) => event.eventId)).size;
  return (
    <>
      <EventControls
        selection={selection}
        onSelect={story.select}
        startedAt={startedAt}
        lastEventAt={lastEventAt}
        onJump={story.showFrom}
      />
      <p role="status" class={story.missed !== undefined ? 'news' : 'faint'}>
        {progress(story)}
      </p>
      {log.before > 0 && (
        <p role="status" class="faint">
          {countText(log.before)} earlier events are not shown, and {countText(unread)} later ones are not
          read yet.{' '}
          <button type="button" class="link" onClick={() => void log.readFirst()}>
            Show from the start
          </button>
        </p>
      )}
      <Problem
        error={log.error}
        onRetry={() => void log.readUntil((_, count) => count > Math.max(firstEvents, log.events.length))}
      />
      {selection === 'all' && joined > 0 && (
        <p class="faint">
          {joined === 1 ? '1 event says' : `${joined} events say`} where arguments came from: see the last
          column of the calls.
        </p>
      )}
      {rows.length === 0 && log.isComplete ? (
        <p class="empty">
          {selection === 'all' ? 'No events.' : 'No event of this kind.'}{' '}
          {selection !== 'all' && (
            <button type="button" class="link" onClick={() => story.select('all')}>
              Show all events
            </button>
          )}
        </p>
      ) : (
        <EventTable {...{ rows, virtual, unread, marks, startedAt }} factorsOf={story.factorsOf} />
      )}
    </>
  );
}

/** Empty rows in place of those that are not rendered. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr class="gap">
        <td colSpan={eventColumns} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

/** Table of events, of which only the visible ones are rendered. It scrolls by itself. */
function EventTable({
  rows,
  virtual: { scroll, items, before, after, measure },
  unread,
  marks,
  factorsOf,
  startedAt,
}: {
  rows: readonly Row[];
  virtual: VirtualRows;
  /** Number of events that follow the rows and are not read yet. */
  unread: number;
  marks: ReadonlyMap<string, EventMark>;
  factorsOf: SessionStory['factorsOf'];
  startedAt: string | undefined;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (eventId: string) =>
    setOpen((ids) =>
      ids.has(eventId) ? new Set([...ids].filter((id) => id !== eventId)) : new Set([...ids, eventId]),
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="event-scroll cards" aria-label="Events, oldest first" ref={scroll} tabIndex={0}>
      <table aria-rowcount={rows.length + unread + 1}>
        <caption class="hidden">Events, oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Tool</th>
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col">Why it stands out</th>
          </tr>
        </thead>
        <Gap height={before} />
        {items.map(({ index, key }) => {
          const row = rows[index];
          if (row === undefined) {
            return (
              <tbody key={key} ref={measure} data-index={index}>
                <tr>
                  <td colSpan={eventColumns} class="faint">
                    Reading…
                  </td>
                </tr>
              </tbody>
            );
          }
          const { eventId = '' } = row.event;
          return (
            <EventRow
              key={key}
              row={row}
              index={index}
              mark={marks.get(eventId)}
              factors={factorsOf(eventId)}
              startedAt={startedAt}
              isOpen={open.has(eventId)}
              onToggle={() => toggle(eventId)}
              measure={measure}
            />
          );
        })}
        <Gap height={after} />
      </table>
    </section>
  );
}

/** Number of columns of the table of events. */
const eventColumns = 5;

function Status({ status }: { status: unknown }) {
  if (typeof status !== 'number') return null;
  return (
    <span class={`badge ${status === deniedStatus ? 'mark-denied' : status >= 400 ? 'mark-error' : 'good'}`}>
      {status}
    </span>
  );
}

/** Rows of one event: its summary, and its details while it is open. */
function EventRow({
  row: { event, origins, place, policy },
  index,
  mark,
  factors,
  startedAt,
  isOpen,
  onToggle,
  measure,
}: {
  row: Row;
  /** Index among the rows of the table. */
  index: number;
  mark: EventMark | undefined;
  /** Factors of the risk that the event is evidence of. */
  factors: readonly RiskFactor[];
  startedAt: string | undefined;
  isOpen: boolean;
  onToggle: () => void;
  measure: (element: Element | null) => void;
}) {
  const { eventId = '', sourceTimestamp, category, agentId, payload } = event;
  const detailsId = `details-${eventId}`;
  return (
    <tbody ref={measure} data-index={index}>
      <tr id={rowId(eventId)} tabIndex={-1} class={mark && `mark-${mark.kinds[0]}`} aria-rowindex={index + 2}>
        <td class="number">
          <time dateTime={sourceTimestamp} title={wholeTime(sourceTimestamp ?? '')}>
            {timeSinceStart(sourceTimestamp, startedAt)}
          </time>
        </td>
        <th scope="row">
          <button
            type="button"
            class="open"
            title={eventSubject(event)}
            aria-expanded={isOpen}
            aria-controls={isOpen ? detailsId : undefined}
            onClick={onToggle}
          >
            {eventSubject(event)}
          </button>
          {category !== 'tool_api' && <div class="faint category">{category}</div>}
        </th>
        <td>
          <Status status={payload?.responseStatus} />
        </td>
        <td class="agent">
          <ActingAgent {...place} agentId={agentId} identity={event.identity} />
        </td>
        <td class="notes">
          {mark && <MarkBadges mark={mark} />}{' '}
          {policy && (
            <span class="faint">
              by <PolicyLink id={policy.id} name={policy.name} />
            </span>
          )}{' '}
          {mark && <span class="faint">{markReasons(mark)}</span>}
          {origins && <EventOrigins origins={origins} isApart={isApart({ event, origins })} />}
        </td>
      </tr>
      {isOpen && (
        <tr id={detailsId}>
          <td colSpan={eventColumns}>
            <EventDetails event={event} factors={factors} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** Summary of the origins of a call's arguments, which the user opens to see them. */
function EventOrigins({
  origins: { eventId, callId, origins },
  isApart,
}: {
  origins: CallOrigins;
  /** `true` if they have a separate row, not the row of the call. */
  isApart: boolean;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      {isApart && (
        <p class="about faint">
          About the call with the event id <code>{callId}</code>.
        </p>
      )}
      {/* The event has no separate row, but reasons can name it. */}
      <details
        id={isApart ? undefined : rowId(eventId)}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary>
          {countTexts(origins) > 0 ? (
            <span class="badge warn">{originsSummary(origins)}</span>
          ) : (
            originsSummary(origins)
          )}
        </summary>
        {/* A page of events may have thousands. */}
        {isOpen && <OriginList origins={origins} />}
      </details>
    </>
  );
}

/** Maximum number of decisions about the tool in the session that are searched for those about the call. */
const mostDecisions = 200;

/**
 * Reads the decisions of policies about a call: those in its session about the same tool and arguments, newest first.
 * Returns none from a service that keeps no decisions.
 */
async function readCallDecisions(
  client: Actlog,
  { sessionId, payload = {} }: StoredEvent,
  signal: AbortSignal,
): Promise<readonly PolicyDecision[]> {
  const { toolName, argumentsHash } = payload;
  if (sessionId === undefined || typeof toolName !== 'string') return [];
  const query = { sessionId, toolName, dryRun: false, limit: mostDecisions };
  try {
    const page: PolicyDecisionPage = await client.request('GET', '/server/v1/decisions', { query, signal });
    return page.items.filter((decision) =>
      [decision.argumentsHash, decision.executedHash].includes(argumentsHash as string),
    );
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

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
function EventDetails({ event, factors }: { event: StoredEvent; factors: readonly RiskFactor[] }) {
  const { eventId, agentId, category, schemaVersion, sourceTimestamp, receivedAt, payload = {} } = event;
  const { traceparent } = event;
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
      {factors.length > 0 && (
        <ul class="why">
          {factors.map(({ ruleId, title, explanation }) => (
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
        {typeof traceparent === 'string' && (
          <div>
            <dt>Trace</dt>
            <dd>
              <TraceLink traceparent={traceparent} />
            </dd>
          </div>
        )}
      </dl>
      {Object.keys(rest).length > 0 && <pre>{JSON.stringify(rest, null, 2)}</pre>}
      {typeof payload.argumentsHash === 'string' && <Decisions event={event} />}
    </div>
  );
}
