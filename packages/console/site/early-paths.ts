import { eventPageSize } from './events/event-page-size.ts';
import { overviewQuery, shownActions } from './overview-query.ts';
import { overviewSpan } from './overview-span.ts';
import type { Route } from './route.ts';

/** Returns the addresses of the first requests of a page, from the address of the service. */
export function earlyPaths({ path: [place = 'overview', id], query }: Route): readonly string[] {
  const identity = 'console/api/identity';
  if (place === 'overview') {
    const search = new URLSearchParams(overviewQuery(overviewSpan(query.get('span')), new Date()));
    return [identity, `server/v1/overview?${search}`, `v1/guardian/pending-actions?limit=${shownActions}`];
  }
  if (place === 'sessions' && id === undefined)
    return query.size > 0 ? [identity] : [identity, 'v1/sessions'];
  if (place === 'sessions' && id !== undefined) {
    const session = `v1/sessions/${encodeURIComponent(id)}`;
    return [identity, `${session}?limit=1`, `${session}/risk`, `${session}?limit=${eventPageSize}`];
  }
  return [identity];
}
