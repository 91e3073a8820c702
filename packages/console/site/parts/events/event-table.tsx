import type { StoredEvent } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../../connection.ts';
import { eventRows, isApart } from '../../events/event-rows.ts';
import { type EventPlace, eventPageSize } from '../../events/find-event.ts';
import { rowId, useEventInView, type WantedEvent } from '../../hooks/use-event-in-view.ts';
import { useList } from '../../hooks/use-list.ts';
import { ListTable } from '../list-table.tsx';
import { EventOrigins } from '../origins/event-origins.tsx';
import { Problem } from '../problem.tsx';
import { wholeTime } from '../time.tsx';

/** Summarizes an event: the tool, or the subject of its category. */
function subject({ category, payload }: StoredEvent): string {
  const { toolName, toAgentId, model, key, decision } = payload ?? {};
  const named = toolName ?? toAgentId ?? model ?? key ?? decision;
  return typeof named === 'string' ? named : (category ?? '');
}

function Hash({ hash }: { hash: unknown }) {
  // A payload of an unknown category can contain anything.
  const text = typeof hash === 'string' ? hash : '';
  return (
    <div class="hash faint" title={text}>
      {text}
    </div>
  );
}

function Status({ status }: { status: unknown }) {
  if (typeof status !== 'number') return null;
  return <span class={`badge ${status >= 400 ? 'bad' : 'good'}`}>{status}</span>;
}

/** Formats milliseconds since the start of the session: +1.204 s, +0:03:07. */
function sinceStart(ms: number): string {
  if (Math.abs(ms) < 60_000) return `${ms < 0 ? '' : '+'}${(ms / 1000).toFixed(3)} s`;
  const seconds = Math.trunc(ms / 1000);
  const [hours, minutes] = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60];
  const two = (number: number) => String(Math.abs(number)).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${Math.abs(hours)}:${two(minutes)}:${two(seconds % 60)}`;
}

/** Table of the events of a session, oldest first. */
export function EventTable({
  id,
  eventCount,
  startedAt,
  wanted,
}: {
  id: string;
  /** Number of events; new events are loaded when it grows. */
  eventCount: number;
  startedAt: string | undefined;
  /** Event to bring into view. */
  wanted: WantedEvent | undefined;
}) {
  const { client } = useConnection();
  const [from, setFrom] = useState<EventPlace>();
  const start = from?.cursor;
  const shown = useList(
    `${id} ${JSON.stringify(from)}`,
    (page, signal) =>
      client.sessions.events(
        id,
        { limit: eventPageSize, ...(start !== undefined && { cursor: start }), ...page },
        { signal },
      ),
    { version: eventCount, growsAtEnd: true, firstPages: from === undefined ? 1 : 2 },
  );
  const { missed, isLooking, error } = useEventInView(id, wanted, setFrom);
  const rows = shown.items && eventRows(shown.items);
  const joined = (shown.items?.length ?? 0) - (rows?.length ?? 0);
  return (
    <>
      <p role="status" class={missed && 'news'}>
        {isLooking && 'Looking for the event…'}
        {missed !== undefined && `The event is not among the first ${missed.before}.`}
        {missed?.isEnd === false && ' Press again to look further, or download the session.'}
      </p>
      <Problem error={error} />
      {from !== undefined && from.before > 0 && (
        <p>
          From event {from.before + 1} on.{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              setFrom(undefined);
              document.getElementById('events')?.focus();
            }}
          >
            Show from the first
          </button>
        </p>
      )}
      {joined > 0 && (
        <p class="faint">
          {joined === 1 ? '1 event says' : `${joined} events say`} where arguments came from: see the last
          column of the calls.
        </p>
      )}
      <ListTable
        shown={{ ...shown, items: rows }}
        caption="Events, oldest first"
        columns={['Time', 'Tool', 'Status', 'Agent', 'Category', 'Arguments']}
        empty="No events."
        row={({ event, origins }) => (
          <tr key={event.eventId} id={rowId(String(event.eventId))} tabIndex={-1}>
            <td class="number">
              <time dateTime={event.sourceTimestamp} title={wholeTime(event.sourceTimestamp ?? '')}>
                {startedAt === undefined
                  ? event.sourceTimestamp
                  : sinceStart(Date.parse(event.sourceTimestamp ?? '') - Date.parse(startedAt))}
              </time>
            </td>
            <th scope="row">
              <span class="whole">{subject(event)}</span>
            </th>
            <td>
              <Status status={event.payload?.responseStatus} />
            </td>
            <td>
              <span class="whole">{event.agentId}</span>
            </td>
            <td class="faint">{event.category}</td>
            <td>
              <Hash hash={event.payload?.argumentsHash} />
              {origins && <EventOrigins origins={origins} isApart={isApart({ event, origins })} />}
            </td>
          </tr>
        )}
      />
    </>
  );
}
