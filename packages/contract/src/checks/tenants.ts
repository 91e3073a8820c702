import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { describeResponse, succeeded } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed } from '../world/list-walk.ts';
import type { MadeSession } from '../world/traffic.ts';

const requirement = 'SVC-02';

/** Endpoints with an identifier in their path. */
const byId = endpointNames.filter((name) => endpoints[name].path.includes(':id'));

/** Returns an identifier of a record of the first tenant for an endpoint. */
async function ownId(run: Run, name: EndpointName): Promise<string> {
  const [resource] = name.split('.');
  if (resource === 'sessions') return (await run.traffic.settled()).main.id;
  if (resource === 'guardian') return (await run.guardian.held()).id;
  return (await run.records.identified(resource === 'agents' ? 'agents' : 'policies', 2)).id;
}

/** Creates a check that requests a record of the first tenant with the other tenant's key. */
function foreignId(name: EndpointName): Check {
  const { method, path, body } = endpoints[name];
  return check(requirement, `${method} ${path}`, async (run) => {
    const key = run.secondTenantKey();
    const id = await ownId(run, name);
    const content = name.startsWith('guardian') ? { decision: 'deny' } : { description: run.prefix };
    const response = await run.probe.call(name, { id, key, ...(body && { body: content }) });
    if (!succeeded(response)) return;
    const isEmptyList = endpoints[name].list && !holds(response.json, (await run.traffic.settled()).main.id);
    if (!isEmptyList) fail(`${describeResponse(response)} with a key of another tenant`);
  });
}

/** Creates a check that requests a list with the other tenant's key. */
function foreignList(name: EndpointName & `${string}.list`): Check {
  return check(requirement, `GET ${endpoints[name].path} of the other tenant`, async (run) => {
    const key = run.secondTenantKey();
    await run.traffic.settled();
    await run.records.made('policies', 2);
    await run.records.made('notificationChannels', 2);
    const { items } = await listed(run, name, { key, maxPages: 3 });
    if (items.some((item) => JSON.stringify(item).includes(run.prefix))) {
      fail(`GET ${endpoints[name].path} shows records of this tenant to the other one`);
    }
  });
}

/** Checks of tenant isolation. */
export const tenantChecks: readonly Check[] = [
  ...byId.map(foreignId),
  ...(['sessions.list', 'agents.list', 'policies.list', 'notificationChannels.list'] as const).map(
    foreignList,
  ),
  check(requirement, 'an event of the other tenant for a session of this one', async (run) => {
    const key = run.secondTenantKey();
    // Not the main session: the other tenant may now have a readable session with the same id.
    const session = (await run.traffic.settled()).ofAgent.at(-1) as MadeSession;
    const event = run.traffic.event({ agentId: session.agentId, sessionId: session.id });
    const response = await run.probe.call('events.create', { key, body: event });
    if (!succeeded(response)) return;
    const { json } = await run.traffic.detail(session);
    if (holds(json, event.eventId)) fail('the other tenant added an event to a session of this one');
  }),
  check(requirement, 'a policy that the other tenant tried to archive', async (run) => {
    const key = run.secondTenantKey();
    const { id, response } = await run.records.identified('policies', 2);
    if (!succeeded(response)) skip('no policy can be created (END-11)');
    const before = await run.probe.call('policies.get', { id });
    await run.probe.call('policies.archive', { id, key });
    const after = await run.probe.call('policies.get', { id });
    if (before.text !== after.text) fail('the policy changed after the other tenant tried to archive it');
  }),
];
