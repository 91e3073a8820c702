import { href } from '../../route.ts';
import { type SessionSearch, searchWithout, setFilters } from '../../sessions/session-search.ts';

/** Text for a search without a result, with a link to each wider search. */
export function NoSession({
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
