// A classic script that runs before the first paint, while the script of the page is still loading: it sets the colors,
// and requests what the page needs first. Over a slow line, this saves two round trips.

import { keptApiKey, linkKey } from './api-key.ts';
import { requestEarly } from './early-responses.ts';
import { eventPageSize } from './events/event-rows.ts';
import { overviewQuery, overviewSpan, shownActions } from './overview-span.ts';
import { followColorScheme } from './preference.ts';
import { parseRoute, type Route } from './route.ts';

/** Names of the scripts of pages that are loaded later, which the build inserts. */
declare const pageScripts: { readonly session: readonly string[]; readonly later: readonly string[] };

followColorScheme();

const { hash } = location;
const route = parseRoute(hash.startsWith('#key=') ? '' : hash);
const [place = 'overview', id] = route.path;
const isFirst = place === 'overview' || place === 'sessions';
const scripts = isFirst ? (id === undefined ? [] : pageScripts.session) : pageScripts.later;
for (const name of scripts) {
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.href = name;
  document.head.append(link);
}

// A tab with another key prompts before it uses the key of a link.
const apiKey = keptApiKey() ?? linkKey();
if (apiKey !== undefined) {
  const service = new URL('..', document.baseURI.split('#')[0]);
  for (const path of earlyPaths(route)) requestEarly(new URL(path, service).href, `Bearer ${apiKey}`);
}

/** Returns the addresses of the first requests of a page, from the address of the service. */
function earlyPaths({ path: [place = 'overview', id], query }: Route): readonly string[] {
  const identity = 'console/api/identity';
  if (place === 'overview') {
    const search = new URLSearchParams(overviewQuery(overviewSpan(query.get('span')), new Date()));
    return [identity, `server/v1/overview?${search}`, `v1/guardian/pending-actions?limit=${shownActions}`];
  }
  if (place === 'sessions' && id === undefined)
    return query.size > 0 ? [identity] : [identity, 'v1/sessions'];
  if (place === 'sessions' && id !== undefined) {
    const session = `v1/sessions/${encodeURIComponent(id)}`;
    const marks = `server/${session}/marks`;
    return [identity, `${session}?limit=1`, `${session}/risk`, marks, `${session}?limit=${eventPageSize}`];
  }
  return [identity];
}
