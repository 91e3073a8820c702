import type { StoredEvent } from '@actlog/client';
import type { EventPage } from '@actlog/protocol';
import Activity from 'lucide/dist/esm/icons/activity.mjs';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { eventSubject } from '../events/event-marks.ts';
import { foundPage, serverPages, useFilterForm, useList } from '../hooks/use-list.ts';
import { usePageRows } from '../hooks/use-virtual-rows.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field, FilterSelect, submitted, trimmed } from '../parts/field.tsx';
import { type CsvColumns, SavedViews, SaveList } from '../parts/list-tools.tsx';
import { SuggestedField, useSuggestions } from '../parts/sessions/session-filters.tsx';
import { type ItemRows, ListTable } from '../parts/table.tsx';
import { Time, Verified, wholeTime } from '../parts/time.tsx';
import { href } from '../route.ts';
import { presetHours, presetTimes } from '../sessions/session-search.ts';
import { Outcome } from './named-activity.tsx';

const statuses = { '': 'any', ok: 'succeeded', error: 'failed', denied: 'denied' };

/** Filters in the address, with the names of the service. */
const filterNames = [
  'agentId',
  'toolName',
  'status',
  'sessionId',
  'argumentsHash',
  'category',
  'since',
  'until',
] as const;

/** Filters as the address has them; empty for none. */
type EventFilters = Readonly<Record<(typeof filterNames)[number], string>>;

function filtersIn(query: URLSearchParams): EventFilters {
  return Object.fromEntries(filterNames.map((name) => [name, query.get(name) ?? ''])) as EventFilters;
}

/** Returns the query for the service. A preset is the time before now. */
function queryOf(filters: EventFilters): Readonly<Record<string, string>> {
  const hours = presetHours[filters.since];
  const since =
    hours === undefined ? filters.since : new Date(now().getTime() - hours * 3_600_000).toISOString();
  return Object.fromEntries(Object.entries({ ...filters, since }).filter(([, value]) => value !== ''));
}

/** Interval of new requests while the page follows, in milliseconds. */
const followMs = 2000;

/** Columns of the table. */
const eventHeads = ['Time', 'Event', 'Outcome', 'Agent', 'Session', 'Arguments'];
const eventColumns = eventHeads.length;

/** Columns of the saved file. */
const columns: CsvColumns<StoredEvent> = {
  time: ({ sourceTimestamp }) => sourceTimestamp,
  agentId: ({ agentId }) => agentId,
  sessionId: ({ sessionId }) => sessionId,
  category: ({ category }) => category,
  toolName: ({ payload }) => payload?.toolName,
  responseStatus: ({ payload }) => payload?.responseStatus,
  argumentsHash: ({ payload }) => payload?.argumentsHash,
  eventId: ({ eventId }) => eventId,
};

/** Page with the events of all sessions, newest first, filtered by the address. */
export function Events({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const filters = filtersIn(query);
  const follows = query.get('follow') === '1';
  const searchedTo = useRef<string>(undefined);
  // Pages of one list have the same filters, so the start of the time stays.
  const request = useMemo(() => queryOf(filters), [String(query)]);
  const list = serverPages<EventPage>(client, '/server/v1/events', request);
  const shown = useList(
    `events ${query}`,
    async (page, signal) => {
      const found = await foundPage(list(page, signal), (cursor) => list({ cursor }, signal));
      searchedTo.current = found.searchedTo;
      return found;
    },
    { everyMs: follows ? followMs : undefined, nameOf: ({ eventId }) => eventId ?? '' },
  );
  const isFiltered = Object.values(filters).some(Boolean);
  const search = (change: Partial<EventFilters>) => href(['events'], { ...filters, ...change });
  return (
    <>
      <h1>Events</h1>
      <EventFilterBar filters={filters} follows={follows} />
      <div class="list-tools">
        <button
          type="button"
          class="quiet"
          aria-pressed={follows}
          onClick={() => {
            location.hash = href(['events'], { ...filters, follow: follows ? '' : '1' });
          }}
        >
          {follows ? 'Following' : 'Follow'}
        </button>
        <SavedViews place="events" query={query} />
        <SaveList
          name="events"
          columns={columns}
          list={(page, signal) => list({ ...page, limit: 200 }, signal)}
        />
      </div>
      <ListTable
        shown={shown}
        caption="Events, newest first"
        columns={eventHeads}
        empty={
          <NoEvent isFiltered={isFiltered} searchedTo={shown.hasMore ? searchedTo.current : undefined} />
        }
        row={(event) => <EventLine key={event.eventId} event={event} search={search} />}
        rows={EventLines}
      />
    </>
  );
}

/** Number of events up to which all rows are rendered, so that the browser finds text in them. */
const wholeRows = 200;

/** Height of a row before it is measured, in pixels. */
const lineHeight = 41;

function EventLines(props: ItemRows<StoredEvent>) {
  const { items, row } = props;
  return items.length <= wholeRows ? items.map(row) : <VisibleLines {...props} />;
}

/** Rows of the events that are in view, in place of all of a long list. */
function VisibleLines({ items, row }: ItemRows<StoredEvent>) {
  const start = useRef<HTMLTableRowElement>(null);
  const [top, setTop] = useState(0);
  const shown = usePageRows(items.length, lineHeight, top, (index) => items[index]?.eventId ?? `${index}`);
  useLayoutEffect(() => {
    const gap = start.current;
    if (gap === null) return;
    gap.closest('table')?.setAttribute('aria-rowcount', String(items.length + 1));
    const startsAt = Math.round(gap.getBoundingClientRect().top + scrollY);
    if (startsAt !== top) setTop(startsAt);
    let line = gap.nextElementSibling as HTMLElement | null;
    for (const { index } of shown.items) {
      if (line === null) return;
      line.dataset.index = String(index);
      line.setAttribute('aria-rowindex', String(index + 2));
      shown.measure(line);
      line = line.nextElementSibling as HTMLElement | null;
    }
  });
  const gap = (height: number) => <td colSpan={eventColumns} style={{ height: `${height}px` }} />;
  return (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table takes no focus */}
      <tr class="gap" aria-hidden="true" ref={start} key="before">
        {gap(shown.before)}
      </tr>
      {shown.items.map(({ index }) => row(items[index] as StoredEvent))}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row of a table takes no focus */}
      <tr class="gap" aria-hidden="true" key="after">
        {gap(shown.after)}
      </tr>
    </>
  );
}

function NoEvent({ isFiltered, searchedTo }: { isFiltered: boolean; searchedTo: string | undefined }) {
  if (!isFiltered) {
    return (
      <EmptyState icon={Activity} title="No agent has sent an event yet.">
        <p>Events of every session appear here as they arrive.</p>
      </EmptyState>
    );
  }
  return (
    <div class="empty">
      <p>
        {searchedTo === undefined
          ? 'No event matches.'
          : `No event matches back to ${wholeTime(searchedTo)}. Press “Show more” to search further.`}
      </p>
      <p>
        <a href={href(['events'])}>See every event</a>
      </p>
    </div>
  );
}

/** One event: what happened, and the way to it in its session. */
function EventLine({
  event,
  search,
}: {
  event: StoredEvent;
  /** Returns the address of this search with other filters. */
  search: (change: Partial<EventFilters>) => string;
}) {
  const { eventId, sessionId = '', sourceTimestamp, category, agentId = '', payload } = event;
  const hash = payload?.argumentsHash;
  return (
    <tr>
      <td>
        <Time at={sourceTimestamp} />
      </td>
      <th scope="row">
        <a
          class="one-line"
          href={href(['sessions', sessionId], { event: eventId })}
          title={eventSubject(event)}
        >
          {eventSubject(event)}
        </a>
        {category !== 'tool_api' && <div class="faint category">{category}</div>}
      </th>
      <td>
        <Outcome payload={payload} />
      </td>
      <td>
        <a class="one-line" href={search({ agentId })} title={agentId}>
          <bdi translate={false}>{agentId}</bdi>
        </a>
        <Verified identity={event.identity} what="agent" />
      </td>
      <td>
        <a class="one-line" href={href(['sessions', sessionId])} title={sessionId}>
          {sessionId}
        </a>
      </td>
      <td>
        {typeof hash === 'string' && (
          <a class="one-line hash" href={search({ argumentsHash: hash })} title={`Every call with ${hash}`}>
            {hash}
          </a>
        )}
      </td>
    </tr>
  );
}

/** Line of filters. Every search is a separate location. */
function EventFilterBar({ filters, follows }: { filters: EventFilters; follows: boolean }) {
  const agents = useSuggestions('agentId');
  const tools = useSuggestions('toolName');
  const isPreset = filters.until === '' && filters.since in presetTimes;
  const custom = `${filters.since || 'the first event'} to ${filters.until || 'now'}`;
  const form = useFilterForm({ ...filters, since: isPreset ? filters.since : 'custom' });
  return (
    <search>
      <form
        ref={form}
        class="filters session-filters"
        onSubmit={submitted((fields) => {
          const given = trimmed(fields);
          // The times of the address stay until another span is chosen.
          const span = given.since === 'custom' ? { since: filters.since, until: filters.until } : {};
          location.hash = href(['events'], { ...given, ...span, follow: follows ? '1' : '' });
        })}
      >
        <SuggestedField label="Agent" name="agentId" suggestions={agents} />
        <SuggestedField label="Tool" name="toolName" suggestions={tools} />
        <FilterSelect label="Outcome" name="status" options={statuses} />
        <FilterSelect
          key={String(isPreset)}
          label="When"
          name="since"
          options={isPreset ? presetTimes : { custom, ...presetTimes }}
        />
        <Field label="Session">
          <input name="sessionId" placeholder="any" autocomplete="off" spellcheck={false} />
        </Field>
        <Field label="Hash of arguments">
          <input name="argumentsHash" placeholder="any" autocomplete="off" spellcheck={false} />
        </Field>
        {filters.category === '' ? null : (
          <Field label="Category">
            <input name="category" placeholder="any" autocomplete="off" spellcheck={false} />
          </Field>
        )}
        <div class="buttons">
          <button type="submit">Filter</button>
          {Object.values(filters).some(Boolean) && <a href={href(['events'])}>Show all</a>}
        </div>
      </form>
    </search>
  );
}
