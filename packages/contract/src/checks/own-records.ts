import { type EndpointName, endpointNames, endpoints, type ListEndpointName } from '@actlog/protocol';
import type { Run } from '../run.ts';
import { type Marks, marksOf } from './listing.ts';

/** Records of the run in a list. */
export interface OwnRecords {
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
