import { type EndpointName, endpointNames, endpoints, type ListEndpointName } from '@actlog/protocol';
import { type Check, check, lastCheck, safeCheck } from '../check.ts';
import {
  type ApiResponse,
  describeResponse,
  holds,
  isObject,
  succeeded,
  values,
} from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import {
  hasArray,
  itemsOf,
  type ListWalk,
  listed,
  namedItems,
  type WalkOptions,
} from '../world/list-walk.ts';
import type { MadeRecord } from '../world/records.ts';
import { expectSuccess } from './expectations.ts';

/** Strings that each identify a record in a list: its identifier, and the name that it was given. */
type Marks = readonly string[];

/** Returns the marks of a record that the run created. */
export function marksOf({ id, name }: MadeRecord): Marks {
  return id === undefined ? [name] : [name, id];
}

/** `true` if an item of a list is the record with these marks. */
export function isMarked(item: unknown, marks: Marks): boolean {
  return marks.some(
    (mark) =>
      holds(item, mark) ||
      values(item).some((value) => typeof value === 'string' && value.split(/[/?#]/).includes(mark)),
  );
}

/**
 * Fails unless a list contains every record once writes have settled. Skips if the list is longer than the page limit
 * of the run, because the order of lists is not specified.
 */
export async function expectListed(
  run: Run,
  endpoint: ListEndpointName,
  records: readonly Marks[],
  options: WalkOptions = {},
): Promise<void> {
  const isShown = (items: readonly unknown[]) =>
    records.every((marks) => items.some((item) => isMarked(item, marks)));
  const walk = await run.eventually(
    () => listed(run, endpoint, { ...options, until: isShown }),
    ({ items, ended }) => isShown(items) || !ended,
  );
  if (isShown(walk.items)) return;
  if (!walk.ended && !walk.repeatsCursor && !walk.refused)
    skip(`the list is longer than ${walk.pages.length} pages (--max-pages)`);
  const missing = records.filter((marks) => !walk.items.some((item) => isMarked(item, marks)));
  fail(
    `${missing.length} of ${records.length} records are missing from the list: ` +
      missing.map((marks) => marks.at(-1)).join(', '),
  );
}

/** Records of the run in a list. */
interface OwnRecords {
  /** Identifier in the path of the list, if it has one. */
  readonly id?: string;
  readonly marks: readonly Marks[];
}

/** `true` if an endpoint returns a page of results. */
function isList(name: EndpointName): name is ListEndpointName {
  return endpoints[name].list;
}

/** All endpoints that return pages. */
const allLists = endpointNames.filter(isList);

/** Lists of the tenant, without an agent's sessions, which need an agent. */
export const tenantLists = allLists.filter((name) => name !== 'agents.sessions');

/**
 * Creates more records than fit on a page of two, as far as the deployment allows, waits until they are listed, and
 * returns the marks of those that a list must contain.
 */
export async function ownRecords(run: Run, name: ListEndpointName): Promise<OwnRecords> {
  const { main, ofAgent, other } =
    name === 'sessions.list' || name === 'agents.sessions'
      ? await run.traffic.settled()
      : { main: undefined, ofAgent: [], other: undefined };
  if (main !== undefined && name === 'agents.sessions')
    return { id: main.agentId, marks: ofAgent.map(({ id }) => [id]) };
  if (other !== undefined) return { marks: [...ofAgent, other].map(({ id }) => [id]) };
  const [kind] = name.split('.');
  if (kind !== 'agents' && kind !== 'policies' && kind !== 'notificationChannels') {
    const holds = [];
    // The first one is decided by other checks.
    for (const number of [2, 3]) holds.push(await run.guardian.hold(number).catch(() => undefined));
    const marks = holds.flatMap((hold): Marks[] => (hold?.item ? [Object.values(hold.names)] : []));
    return { marks };
  }
  const made = [];
  // Webhooks cannot be deleted.
  const count = kind === 'notificationChannels' ? 3 : 5;
  for (let number = 1; number <= count; number += 1) made.push(await run.records.made(kind, number));
  return { marks: made.filter(({ response }) => response.status < 300).map(marksOf) };
}

/** Returns the page size for a walk: the records of the run fill more than one page. */
function limitOf(name: ListEndpointName): number {
  return name === 'guardian.pendingActions.list' ? 1 : 2;
}

/** Returns the fault of a page without a nextCursor of the right type. */
function nextCursorFault(page: ApiResponse): string | undefined {
  const next = isObject(page.json) ? page.json.nextCursor : undefined;
  return next === null || typeof next === 'string' ? undefined : `nextCursor is ${JSON.stringify(next)}`;
}

/** First walks through the lists of each run. */
const firstWalks = new WeakMap<Run, Map<ListEndpointName, Promise<ListWalk>>>();

/** Walks through a list in small pages, once the records that the run created for it are shown. */
async function newWalk(run: Run, name: ListEndpointName): Promise<ListWalk> {
  const query = { limit: limitOf(name) };
  if (run.settings.readOnly) return listed(run, name, { query, maxPages: 4 });
  const { id, marks } = await ownRecords(run, name);
  return run.eventually(
    () => listed(run, name, { query, ...(id !== undefined && { id }) }),
    (seen) => isCutShort(seen) || marks.every((one) => seen.items.some((item) => isMarked(item, one))),
  );
}

/** Returns the first walk of the run through a list. */
function walk(run: Run, name: ListEndpointName): Promise<ListWalk> {
  const ofRun = firstWalks.get(run) ?? new Map<ListEndpointName, Promise<ListWalk>>();
  firstWalks.set(run, ofRun);
  const first = ofRun.get(name) ?? newWalk(run, name);
  ofRun.set(name, first);
  return first;
}

/** Skips the check if a list is too short for a second page. */
async function expectPages(run: Run, name: ListEndpointName, { pages, items, refused }: ListWalk) {
  const limit = limitOf(name);
  if (pages.length > 1 || refused !== undefined || items.length > limit) return;
  const expected = run.settings.readOnly ? 0 : (await ownRecords(run, name)).marks.length;
  if (expected <= limit)
    skip(`the list has ${items.length} items, too few for a second page, and the run could not add any`);
}

/** Returns the first walk through a list; skips if it is too short for a second page. */
async function walkOfPages(run: Run, name: ListEndpointName): Promise<ListWalk> {
  const pages = await walk(run, name);
  await expectPages(run, name, pages);
  return pages;
}

/** `true` if an item occurred twice or a cursor was repeated. */
function comesTwice({ items, repeatsCursor }: ListWalk): boolean {
  return repeatsCursor || new Set(items.map((item) => JSON.stringify(item))).size < items.length;
}

/** Returns how many records of the run a walk leaves out, and how many it has more than once. */
async function ownFaults(run: Run, name: ListEndpointName, { items }: ListWalk) {
  const { marks } = await ownRecords(run, name);
  const counts = marks.map((one) => items.filter((item) => isMarked(item, one)).length);
  return {
    total: marks.length,
    missing: counts.filter((count) => count === 0).length,
    repeated: counts.filter((count) => count > 1).length,
  };
}

/** `true` if a walk stopped because the list is longer than the run reads. */
function isCutShort({ ended, repeatsCursor, refused }: ListWalk): boolean {
  return !ended && !repeatsCursor && refused === undefined;
}

const make = (name: ListEndpointName) => (name === 'agents.sessions' ? check : safeCheck);
const route = (name: ListEndpointName) => `GET ${endpoints[name].path}`;

function checksOf(name: ListEndpointName): readonly Check[] {
  const limit = limitOf(name);
  return [
    make(name)('PAG-01', route(name), async (run) => {
      for (const page of (await walk(run, name)).pages) {
        const fault = nextCursorFault(page);
        if (fault !== undefined) fail(fault);
      }
    }),
    check('PAG-02', route(name), async (run) => {
      const pages = await walkOfPages(run, name);
      if (pages.refused) fail(`a nextCursor is rejected: ${describeResponse(pages.refused)}`);
      if (pages.repeatsCursor) fail('a cursor led back to an earlier page, so that the list does not end');
      // The end of an agent's sessions is known; other lists may be long.
      const { marks } = await ownRecords(run, name);
      const isOver = name === 'agents.sessions' && pages.pages.length > marks.length + 1;
      if (isOver && !pages.ended)
        fail(`${pages.pages.length} pages of ${limit} did not reach the end of ${marks.length} sessions`);
      if (!pages.ended) skip(`the list is longer than ${pages.pages.length} pages of ${limit} (--max-pages)`);
    }),
    make(name)('LST-01', route(name), async (run) => {
      for (const page of (await walkOfPages(run, name)).pages) {
        const { length } = itemsOf(page, name);
        if (length > limit)
          fail(`${describeResponse(page)}, which has ${length} items for a limit of ${limit}`);
      }
    }),
    check('LST-03', route(name), async (run) => {
      const pages = await walkOfPages(run, name);
      const { missing, total } = await ownFaults(run, name, pages);
      if (total === 0) skip('the run has no record in this list');
      if (missing === 0) return;
      if (isCutShort(pages))
        skip(`the list is longer than ${pages.pages.length} pages of ${limit} (--max-pages)`);
      // Other clients may change the list between two pages: retry once.
      const again = await ownFaults(run, name, await newWalk(run, name));
      if (again.missing > 0) fail(`pagination omits ${again.missing} of ${total} records of the run`);
    }),
    make(name)('LST-04', route(name), async (run) => {
      const isRepeated = async (pages: ListWalk) => {
        await expectPages(run, name, pages);
        if (comesTwice(pages)) return true;
        return !run.settings.readOnly && (await ownFaults(run, name, pages)).repeated > 0;
      };
      // Other clients may add items between two pages, and the specification allows that to shift pages: retry once.
      if ((await isRepeated(await walk(run, name))) && (await isRepeated(await newWalk(run, name))))
        fail('an item occurred twice, or a cursor led back to an earlier page');
    }),
  ];
}

/** Checks of pagination. */
export const listChecks: readonly Check[] = [
  ...tenantLists.flatMap((name) => [
    safeCheck('LST-06', route(name), async ({ probe }) => {
      const page = await probe.call(name);
      if (!succeeded(page)) skip(`the list cannot be read: ${describeResponse(page)}`);
      if (!hasArray(page)) fail(`${describeResponse(page)}, which contains no array`);
    }),
    safeCheck('LST-05', route(name), async ({ probe }) => {
      expectSuccess(await probe.call(name));
      expectSuccess(await probe.call(name, { query: { limit: 1 } }));
    }),
  ]),
  ...allLists.flatMap(checksOf),
  lastCheck('PAG-01', 'every page of the run', async ({ probe }) => {
    for (const page of probe.responses) {
      if (page.endpoint === undefined || !isList(page.endpoint) || !succeeded(page)) continue;
      const fault = nextCursorFault(page);
      if (fault !== undefined) fail(`${page.method} ${page.path}: ${fault}`);
    }
  }),
  check('LST-02', 'pages before the last', async (run) => {
    const limit = limitOf('agents.sessions');
    const lengths = (await walkOfPages(run, 'agents.sessions')).pages.map(
      (page) => itemsOf(page, 'agents.sessions').length,
    );
    // A nextCursor may lead to an empty last page.
    while (lengths.at(-1) === 0) lengths.pop();
    for (const length of lengths.slice(0, -1)) {
      if (length < limit)
        fail(`a page has ${length} items for a limit of ${limit}, but is not the last page`);
    }
  }),
  check('LST-03', 'nothing else among the sessions of an agent', async (run) => {
    const { items } = await walkOfPages(run, 'agents.sessions');
    const { marks } = await ownRecords(run, 'agents.sessions');
    const foreign = items.filter((item) => !marks.some((one) => isMarked(item, one)));
    if (foreign.length > 0) fail(`${foreign.length} of ${items.length} sessions are not those of the agent`);
  }),
  safeCheck('LST-07', 'names of arrays', async ({ probe }) => {
    const seen: string[] = [];
    for (const name of tenantLists) {
      const [array = 'unknown'] = namedItems(await probe.call(name), name) ?? [];
      seen.push(`${endpoints[name].path}: ${array}`);
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
      const { status } = await probe.call('sessions.list', { query: { [name]: value } });
      seen.push(`${name}=${value}: ${status}`);
    }
    return seen.join(', ');
  }),
];
