import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { succeeded, told } from '../http/answer.ts';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed } from '../world/list-walk.ts';
import type { MadeSession } from '../world/traffic.ts';

const requirement = 'SVC-02';

/** Endpoints that name a record in their path. */
const byId = endpointNames.filter((name) => endpoints[name].path.includes(':id'));

/** The identifier of a record of the first tenant that an endpoint takes. */
async function ownId(run: Run, name: EndpointName): Promise<string> {
  const [resource] = name.split('.');
  if (resource === 'sessions') return (await run.traffic.settled()).main.id;
  if (resource === 'guardian') return (await run.guardian.held()).id;
  return (await run.records.identified(resource === 'agents' ? 'agents' : 'policies', 2)).id;
}

/** An endpoint, asked with the other tenant's key for a record of the first. */
function foreignId(name: EndpointName): Check {
  const { method, path, body } = endpoints[name];
  return check(requirement, `${method} ${path}`, async (run) => {
    const key = run.secondTenantKey();
    const id = await ownId(run, name);
    const content = name.startsWith('guardian') ? { decision: 'deny' } : { description: run.prefix };
    const answer = await run.probe.call(name, { id, key, ...(body && { body: content }) });
    if (!succeeded(answer)) return;
    const isEmptyList = endpoints[name].list && !holds(answer.json, (await run.traffic.settled()).main.id);
    if (!isEmptyList) fail(`${told(answer)} for a key of another tenant`);
  });
}

/** A list, asked for with the other tenant's key. */
function foreignList(name: EndpointName & `${string}.list`): Check {
  return check(requirement, `GET ${endpoints[name].path} of the other tenant`, async (run) => {
    const key = run.secondTenantKey();
    await run.traffic.settled();
    await run.records.made('policies', 2);
    await run.records.made('notificationChannels', 2);
    const { items } = await listed(run, name, { key, maxPages: 3 });
    if (items.some((item) => JSON.stringify(item).includes(run.prefix))) {
      fail(`GET ${endpoints[name].path} shows the other tenant what this one has made`);
    }
  });
}

/** That tenants are kept apart. */
export const tenantChecks: readonly Check[] = [
  ...byId.map(foreignId),
  ...(['sessions.list', 'agents.list', 'policies.list', 'notificationChannels.list'] as const).map(
    foreignList,
  ),
  check(requirement, 'an event of the other tenant for a session of this one', async (run) => {
    const key = run.secondTenantKey();
    // Not the main session: the other tenant may now have one of the same name, which it can read.
    const session = (await run.traffic.settled()).ofAgent.at(-1) as MadeSession;
    const event = run.traffic.event({ agentId: session.agentId, sessionId: session.id });
    const answer = await run.probe.call('events.create', { key, body: event });
    if (!succeeded(answer)) return;
    const { json } = await run.traffic.detail(session);
    if (holds(json, event.eventId)) fail('the other tenant has put an event into a session of this one');
  }),
  check(requirement, 'a policy that the other tenant tried to archive', async (run) => {
    const key = run.secondTenantKey();
    const { id, answer } = await run.records.identified('policies', 2);
    if (!succeeded(answer)) skip('no policy can be made (END-11)');
    const before = await run.probe.call('policies.get', { id });
    await run.probe.call('policies.archive', { id, key });
    const after = await run.probe.call('policies.get', { id });
    if (before.text !== after.text)
      fail('the policy is another one after the other tenant tried to archive it');
  }),
];
