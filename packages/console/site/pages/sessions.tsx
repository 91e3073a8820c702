import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { useList } from '../hooks/use-list.ts';
import { FirstEvent } from '../parts/events/first-event.tsx';
import { Loading } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { NoSession } from '../parts/sessions/no-session.tsx';
import { SessionFilters } from '../parts/sessions/session-filters.tsx';
import { SessionTable } from '../parts/sessions/session-table.tsx';
import { ShowMore } from '../parts/show-more.tsx';
import { foundPage } from '../sessions/found-page.ts';
import { listQuery, readSearch, setFilters } from '../sessions/session-search.ts';

/** Reload interval of all sessions, and of a search, for which the service may read many of them; in milliseconds. */
const [reloadMs, searchReloadMs] = [5000, 30_000];

/** Page with the sessions, filtered and sorted by the address. */
export function Sessions({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const search = readSearch(query);
  const isFiltered = setFilters(search).length > 0;
  const shown = useList(
    `sessions ${query}`,
    (page, signal) => {
      const request = listQuery(search, now());
      const list = (from: { readonly cursor?: string }) =>
        client.sessions.list({ ...request, ...from }, { signal });
      return foundPage(list(page), (cursor) => list({ cursor }));
    },
    { everyMs: isFiltered ? searchReloadMs : reloadMs, nameOf: ({ id }) => id },
  );
  const { items, error, hasMore, reload } = shown;
  return (
    <>
      <h1>Sessions</h1>
      <SessionFilters search={search} />
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <Loading />}
      {items?.length === 0 && (isFiltered ? <NoSession search={search} hasMore={hasMore} /> : <FirstEvent />)}
      {items !== undefined && items.length > 0 && <SessionTable sessions={items} search={search} />}
      <ShowMore {...shown} />
    </>
  );
}
