// A classic script that runs before the first paint, while the script of the page is still loading: it sets the colors,
// and requests what the page needs first. Over a slow line, this saves two round trips.
import { keptApiKey, linkKey } from './api-key.ts';
import { followColorScheme } from './color-scheme.ts';
import { earlyPaths } from './early-paths.ts';
import { requestEarly } from './early-responses.ts';
import { parseRoute } from './route.ts';

/** Names of the scripts of the pages that have their own, which the build inserts. */
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

// A tab with another key asks before it uses that of a link.
const apiKey = keptApiKey() ?? linkKey();
if (apiKey !== undefined) {
  const service = new URL('..', document.baseURI.split('#')[0]);
  for (const path of earlyPaths(route)) requestEarly(new URL(path, service).href, `Bearer ${apiKey}`);
}
