import { type EndpointName, endpointNames, endpoints, type ListEndpointName } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../check.ts';
import { describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { itemsName, itemsOf, type ListWalk, listed } from '../world/list-walk.ts';
import { expectSuccess } from './expectations.ts';

function isList(name: EndpointName): name is ListEndpointName {
  return endpoints[name].list;
}

const lists = endpointNames.filter(isList);

/** Lists of the tenant, without an agent's sessions, which need an agent. */
const tenantLists = lists.filter((name) => name !== 'agents.sessions');

/** Page size for walks; the data of the run fills more than one page. */
const limit = 2;

/** Walks through the five sessions of the run's own agent: a list that nobody else changes. */
async function ownWalk(run: Run): Promise<{ walk: ListWalk; ids: readonly string[] }> {
  const { main, ofAgent } = await run.traffic.settled();
  const ids = ofAgent.map(({ id }) => id);
  await run.eventually(
    () => run.probe.call('agents.sessions', { id: main.agentId, query: { limit: 100 } }),
    ({ json }) => ids.every((id) => holds(json, id)),
  );
  return { walk: await listed(run, 'agents.sessions', { id: main.agentId, query: { limit } }), ids };
}

/** Creates records that fill the list beyond one page, as far as the deployment allows. */
async function fill(run: Run, name: ListEndpointName): Promise<void> {
  if (run.settings.readOnly) return;
  if (name === 'sessions.list') await run.traffic.settled();
  const [kind] = name.split('.');
  if (kind !== 'agents' && kind !== 'policies' && kind !== 'notificationChannels') return;
  for (const number of [1, 2]) await run.records.made(kind, number);
}

/** Returns the first pages of a list, with one item each. */
async function firstPages(run: Run, name: ListEndpointName): Promise<ListWalk> {
  await fill(run, name);
  return listed(run, name, { query: { limit: 1 }, maxPages: 4 });
}

/** `true` if an item occurred twice or a cursor was repeated. */
function comesTwice({ items, repeatsCursor }: ListWalk): boolean {
  return repeatsCursor || new Set(items.map((item) => JSON.stringify(item))).size < items.length;
}

/** Checks of pagination. */
export const listChecks: readonly Check[] = [
  ...tenantLists.flatMap((name) => [
    safeCheck('PAG-01', `GET ${endpoints[name].path}`, async ({ probe }) => {
      const page = await probe.call(name);
      if (!succeeded(page)) skip(`the list cannot be read: ${describeResponse(page)}`);
      const next = isObject(page.json) ? page.json.nextCursor : undefined;
      if (next !== null && typeof next !== 'string') fail(`nextCursor is ${JSON.stringify(next)}`);
    }),
    safeCheck('LST-06', `GET ${endpoints[name].path}`, async ({ probe }) => {
      const page = await probe.call(name);
      if (!succeeded(page)) skip(`the list cannot be read: ${describeResponse(page)}`);
      const hasArray = isObject(page.json) && Object.values(page.json).some(Array.isArray);
      if (!hasArray) fail(`${describeResponse(page)}, which contains no array`);
    }),
    safeCheck('LST-05', `GET ${endpoints[name].path}`, async ({ probe }) => {
      expectSuccess(await probe.call(name));
      expectSuccess(await probe.call(name, { query: { limit: 1 } }));
    }),
    safeCheck('LST-01', `GET ${endpoints[name].path}`, async (run) => {
      for (const page of (await firstPages(run, name)).pages) {
        const { length } = itemsOf(page, name);
        if (length > 1) fail(`${describeResponse(page)}, which has ${length} items for a limit of 1`);
      }
    }),
    safeCheck('LST-04', `GET ${endpoints[name].path}`, async (run) => {
      // Other clients may add items between two pages, and the specification allows that to shift pages: retry once.
      if (!comesTwice(await firstPages(run, name))) return;
      if (comesTwice(await firstPages(run, name)))
        fail('an item occurred twice, or a cursor led back to an earlier page');
    }),
  ]),
  check('PAG-01', `GET ${endpoints['agents.sessions'].path}`, async (run) => {
    const { main } = await run.traffic.settled();
    const page = await run.probe.call('agents.sessions', { id: main.agentId });
    if (!succeeded(page)) skip(`the list cannot be read: ${describeResponse(page)}`);
    const next = isObject(page.json) ? page.json.nextCursor : undefined;
    if (next !== null && typeof next !== 'string') fail(`nextCursor is ${JSON.stringify(next)}`);
  }),
  check('PAG-02', 'the sessions of an agent end', async (run) => {
    const { walk, ids } = await ownWalk(run);
    if (walk.refused) fail(`a nextCursor is rejected: ${describeResponse(walk.refused)}`);
    if (!walk.ended)
      fail(`${walk.pages.length} pages of ${limit} did not reach the end of ${ids.length} sessions`);
  }),
  check('LST-01', 'the sessions of an agent', async (run) => {
    for (const page of (await ownWalk(run)).walk.pages) {
      const { length } = itemsOf(page, 'agents.sessions');
      if (length > limit) fail(`a page has ${length} items for a limit of ${limit}`);
    }
  }),
  check('LST-02', 'pages before the last', async (run) => {
    for (const page of (await ownWalk(run)).walk.pages.slice(0, -1)) {
      const { length } = itemsOf(page, 'agents.sessions');
      if (length < limit)
        fail(`a page has ${length} items for a limit of ${limit}, but is not the last page`);
    }
  }),
  check('LST-03', 'every session of an agent', async (run) => {
    const { walk, ids } = await ownWalk(run);
    const missing = ids.filter((id) => !walk.items.some((item) => holds(item, id)));
    if (missing.length > 0) fail(`pagination omits ${missing.length} of ${ids.length} sessions`);
  }),
  check('LST-04', 'no session of an agent twice', async (run) => {
    const { walk, ids } = await ownWalk(run);
    const twice = ids.filter((id) => walk.items.filter((item) => holds(item, id)).length > 1);
    if (twice.length > 0) fail(`pagination returns ${twice.length} of ${ids.length} sessions twice`);
  }),
  safeCheck('LST-07', 'names of arrays', async ({ probe }) => {
    const seen: string[] = [];
    for (const name of tenantLists) {
      seen.push(`${endpoints[name].path}: ${itemsName(await probe.call(name), name) ?? 'unknown'}`);
    }
    return seen.join(', ');
  }),
  safeCheck('LST-08', 'unknown parameters', async ({ probe }) => {
    const seen: string[] = [];
    for (const query of [
      { limit: 0 },
      { limit: 'abc' },
      { limit: 1_000_000 },
      { cursor: 'no-cursor' },
      { unheard: 1 },
    ]) {
      const [[name, value]] = Object.entries(query) as [[string, string | number]];
      seen.push(
        `${name}=${value}: ${(await probe.call('sessions.list', { query: { [name]: value } })).status}`,
      );
    }
    return seen.join(', ');
  }),
];
