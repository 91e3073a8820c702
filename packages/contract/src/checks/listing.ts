import { type EndpointName, endpointNames, endpoints, type ListEndpointName } from '@actlog/protocol';
import { holds, values } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed, type WalkOptions } from '../world/list-walk.ts';
import type { MadeRecord } from '../world/records.ts';

/** Texts by which a record is known in a list, each of them enough: its identifier, and the name that it was given. */
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
export function isList(name: EndpointName): name is ListEndpointName {
  return endpoints[name].list;
}

/** All endpoints that return pages. */
export const allLists = endpointNames.filter(isList);

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
