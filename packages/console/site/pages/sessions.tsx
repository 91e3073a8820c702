import type { Session } from '@actlog/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { foundPage, type ListedPage, serverPages, useList } from '../hooks/use-list.ts';
import { Loading, ShowMore } from '../parts/empty-state.tsx';
import { FirstEvent } from '../parts/events/first-event.tsx';
import { type CsvColumns, SavedViews, SaveList } from '../parts/list-tools.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { SessionFilters } from '../parts/sessions/session-filters.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';
import {
  assigneeQuery,
  listQuery,
  readSearch,
  type SessionSearch,
  searchWithout,
  setFilters,
} from '../sessions/session-search.ts';

/** Reload interval of all sessions, and of a search, for which the service may read many of them; in milliseconds. */
const [reloadMs, searchReloadMs] = [5000, 30_000];

/** Columns of the saved file. */
const columns: CsvColumns<Session> = {
  id: ({ id }) => id,
  agents: ({ agentId, agentIds }) => (agentIds ?? [agentId]).join('; '),
  score: ({ risk }) => risk?.score,
  level: ({ risk }) => risk?.level,
  events: ({ eventCount }) => eventCount,
  errors: ({ errorCount }) => errorCount,
  tools: ({ toolNames }) => toolNames?.join('; '),
  startedAt: ({ startedAt }) => startedAt,
  lastEventAt: ({ lastEventAt }) => lastEventAt,
};

/** Page with the sessions, filtered and sorted by the address. */
export function Sessions({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const search = readSearch(query);
  const isFiltered = setFilters(search).length > 0;
  const pages = (size: { readonly limit?: number } = {}) => {
    const request = { ...listQuery(search, now()), ...size };
    const assigned = assigneeQuery(search);
    // Only the actlog server knows whom a session is assigned to.
    const ofServer =
      assigned &&
      serverPages<{ items: Session[]; nextCursor: string | null }>(client, '/server/v1/sessions', {
        ...request,
        ...assigned,
      });
    return (page: { readonly cursor?: string }, signal: AbortSignal) => {
      const list = (from: { readonly cursor?: string }): PromiseLike<ListedPage<Session>> =>
        ofServer ? ofServer(from, signal) : client.sessions.list({ ...request, ...from }, { signal });
      return foundPage(list(page), (cursor) => list({ cursor }));
    };
  };
  const shown = useList(`sessions ${query}`, (page, signal) => pages()(page, signal), {
    everyMs: isFiltered ? searchReloadMs : reloadMs,
    nameOf: ({ id }) => id,
  });
  const { items, error, hasMore, reload } = shown;
  const asked = query.get('compare');
  const [picked, setPicked] = useState<readonly string[] | undefined>(asked ? [asked] : undefined);
  return (
    <>
      <h1>Sessions</h1>
      <SessionFilters search={search} />
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <Loading />}
      {items?.length === 0 &&
        error === undefined &&
        (isFiltered ? <NoSession search={search} hasMore={hasMore} /> : <FirstEvent />)}
      <div class="list-tools">
        <SavedViews place="sessions" query={query} />
        {items !== undefined && items.length > 0 && (
          <>
            <SaveList name="sessions" columns={columns} list={pages({ limit: 200 })} />
            <button
              type="button"
              class="quiet"
              aria-pressed={picked !== undefined}
              onClick={() => setPicked(picked === undefined ? [] : undefined)}
            >
              Compare
            </button>
          </>
        )}
      </div>
      {picked !== undefined && <Picked ids={picked} />}
      {items !== undefined && items.length > 0 && (
        <SessionTable sessions={items} search={search} picked={picked} onPick={setPicked} />
      )}
      <ShowMore {...shown} />
    </>
  );
}

/** Sessions that are picked for a comparison, and the way to it. */
function Picked({ ids }: { ids: readonly string[] }) {
  const [one, other] = ids;
  return (
    <p role="status" class="news">
      {one === undefined && 'Pick two sessions to compare.'}
      {one !== undefined && (
        <>
          Compare <bdi translate={false}>{one}</bdi> with{' '}
          {other === undefined ? (
            'another session: pick it in the list.'
          ) : (
            <>
              <bdi translate={false}>{other}</bdi>:{' '}
              <a href={href(['sessions', one], { with: other })}>see them side by side</a>
            </>
          )}
        </>
      )}
    </p>
  );
}

/** Text for a search without a result, with a link to each wider search. */
function NoSession({
  search,
  hasMore,
}: {
  search: SessionSearch;
  /** `true` if the service has not read all sessions yet. */
  hasMore: boolean;
}) {
  const filters = setFilters(search);
  return (
    <div class="empty">
      <p>
        {hasMore
          ? 'No session matches among those that were read so far. Press “Show more” to read further.'
          : `No session matches${filters.length > 1 ? ' all of these filters' : ''}.`}
      </p>
      {filters.length > 1 && (
        <p class="links">
          Search without the filter:
          {filters.map(({ words, fields }) => (
            <a key={words} href={href(['sessions'], searchWithout(search, ...fields))}>
              {words}
            </a>
          ))}
        </p>
      )}
      <p>
        <a href={href(['sessions'], { order: search.order })}>See every session</a>
      </p>
    </div>
  );
}

const shownTools = 4;

function tools({ toolNames = [] }: Session): string {
  const more = toolNames.length - shownTools;
  return toolNames.slice(0, shownTools).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Header of a column that the list can be sorted by. */
function SortHeader({
  search,
  order,
  children,
}: {
  search: SessionSearch;
  /** Order in the address. */
  order: string;
  children: ComponentChildren;
}) {
  const isSorted = search.order === order;
  return (
    <th scope="col" aria-sort={isSorted ? 'descending' : undefined}>
      {isSorted ? (
        <>
          {children} <span aria-hidden="true">↓</span>
        </>
      ) : (
        <a href={href(['sessions'], { ...searchWithout(search, 'order'), order })}>{children}</a>
      )}
    </th>
  );
}

function SessionRow({ session, picked, onPick }: { session: Session } & Picking) {
  const isPicked = picked?.includes(session.id) === true;
  return (
    <tr>
      <th scope="row" class="session">
        {picked !== undefined && (
          <input
            type="checkbox"
            aria-label={`Compare ${session.id}`}
            checked={isPicked}
            // Of three, the one before the last is replaced.
            onInput={() =>
              onPick(
                isPicked ? picked.filter((id) => id !== session.id) : [...picked.slice(0, 1), session.id],
              )
            }
          />
        )}
        <a href={href(['sessions', session.id])}>{session.id}</a>
      </th>
      <td class="session-risk">
        <RiskScore risk={session.risk} />
      </td>
      <td data-label="Agent">{session.agentId}</td>
      <td class="number" data-label="Events">
        {session.eventCount}
      </td>
      <td class={`number ${session.errorCount ? 'mark-error' : 'faint'}`} data-label="Errors">
        {session.errorCount}
      </td>
      <td class="faint session-tools" data-label="Tools">
        {tools(session)}
      </td>
      <td data-label="Started">
        <Time at={session.startedAt} />
      </td>
      <td data-label="Last event">
        <Time at={session.lastEventAt} />
      </td>
    </tr>
  );
}

/** Sessions that are picked for a comparison. */
interface Picking {
  /** Ids, at most two; undefined while none can be picked. */
  readonly picked: readonly string[] | undefined;
  readonly onPick: (ids: readonly string[]) => void;
}

/** Table of sessions. In a narrow place each session is a card whose first line has the risk. */
function SessionTable({
  sessions,
  search,
  ...picking
}: { sessions: readonly Session[]; search: SessionSearch } & Picking) {
  const caption = search.order === 'risk' ? 'Sessions, riskiest first' : 'Sessions, newest first';
  return (
    <div class="session-list cards">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col" class="session">
              Session
            </th>
            <SortHeader search={search} order="risk">
              Risk
            </SortHeader>
            <th scope="col">Agent</th>
            <th scope="col">Events</th>
            <th scope="col">Errors</th>
            <th scope="col">Tools</th>
            <SortHeader search={search} order="">
              Started
            </SortHeader>
            <th scope="col">Last event</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} {...picking} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
