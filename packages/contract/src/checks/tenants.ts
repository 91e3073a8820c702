import { type EndpointName, endpointNames, endpoints, type ListEndpointName } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { describeResponse, isObject, mentions, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { isUnchanged } from '../world/event-record.ts';
import { namesAny } from '../world/hold.ts';
import { listed } from '../world/list-walk.ts';
import { type MadeSession, readSession } from '../world/traffic.ts';
import { isMarked, ownRecords, tenantLists } from './lists.ts';

const requirement = 'SVC-02';

/** Shortest identifier that another tenant does not have by chance, in characters. */
const unmistakableLength = 8;

/** Pages of this tenant whose cursors the other one tries. */
const foreignPages = 3;

/** Endpoints with an identifier in their path. */
const byId = endpointNames.filter((name) => endpoints[name].path.includes(':id'));

/** Returns an identifier of a record of the first tenant for an endpoint. */
async function ownId(run: Run, name: EndpointName): Promise<string> {
  const [resource] = name.split('.');
  if (resource === 'sessions') return (await run.traffic.settled()).main.id;
  if (resource === 'guardian') return (await run.guardian.identified(2)).id;
  if (name === 'agents.sessions') return (await run.traffic.settled()).main.agentId;
  return (await run.records.identified(resource === 'agents' ? 'agents' : 'policies', 2)).id;
}

/** Returns a body for an endpoint with an identifier; undefined for one without a body. */
function bodyFor(run: Run, name: EndpointName): unknown {
  if (!endpoints[name].body) return undefined;
  return run.records.body(name, { name: run.newName('foreign') });
}

/** Creates a check that requests a record of the first tenant with the other tenant's key. */
function foreignId(name: EndpointName): Check {
  const { method, path } = endpoints[name];
  return check(requirement, `${method} ${path}`, async (run) => {
    const key = run.secondTenantKey();
    const id = await ownId(run, name);
    const body = bodyFor(run, name);
    const response = await run.probe.call(name, { id, key, ...(body !== undefined && { body }) });
    if (!succeeded(response)) return;
    const unknown = run.newName('nothing');
    const control = await run.probe.call(name, { id: unknown, key, ...(body !== undefined && { body }) });
    const isSame =
      control.status === response.status &&
      control.text.replaceAll(unknown, '') === response.text.replaceAll(id, '');
    if (!isSame) fail(`${describeResponse(response)} with a key of another tenant`);
  });
}

/** Returns a function that checks if a value names a record of the run in a list; skips if the list has none. */
async function namesOwnRecord(run: Run, name: ListEndpointName): Promise<(shown: unknown) => boolean> {
  const { marks } = await ownRecords(run, name);
  if (marks.length === 0) skip('the run has no record in this list');
  const names = marks.map((one) => one.filter((mark) => mark.length >= unmistakableLength));
  return (shown) => names.some((one) => one.length > 0 && isMarked(shown, one));
}

/** Creates a check that requests a list with the other tenant's key. */
function foreignList(name: ListEndpointName): Check {
  return check(requirement, `GET ${endpoints[name].path} of the other tenant`, async (run) => {
    const key = run.secondTenantKey();
    const isOwn = await namesOwnRecord(run, name);
    const { items, ended } = await listed(run, name, { key });
    if (items.some(isOwn)) fail(`GET ${endpoints[name].path} shows records of this tenant to the other one`);
    if (!ended) skip('the end of the list was not reached (--max-pages)');
  });
}

/** Creates a check that continues a list of the first tenant with the other tenant's key. */
function foreignCursor(name: ListEndpointName): Check {
  return check(requirement, `GET ${endpoints[name].path} with a cursor of the other tenant`, async (run) => {
    const key = run.secondTenantKey();
    const isOwn = await namesOwnRecord(run, name);
    const query = { limit: 1 };
    const { pages } = await listed(run, name, { query, maxPages: foreignPages });
    const cursors = pages.flatMap(({ json }) =>
      isObject(json) && typeof json.nextCursor === 'string' ? [json.nextCursor] : [],
    );
    if (cursors.length === 0) skip('the list has one page, and so no cursor');
    for (const cursor of cursors) {
      const foreign = await run.probe.call(name, { query: { ...query, cursor }, key });
      if (succeeded(foreign) && isOwn(foreign.json))
        fail(`${describeResponse(foreign)}: a cursor of this tenant shows its records to the other one`);
    }
  });
}

/** Creates a check that a request with the other tenant's key changes nothing. */
function foreignChange(name: 'agents.update' | 'policies.update' | 'policies.archive'): Check {
  const kind = name === 'agents.update' ? 'agents' : 'policies';
  const { method, path } = endpoints[name];
  return check(requirement, `${method} ${path} changes nothing`, async (run) => {
    const key = run.secondTenantKey();
    const { id } = await run.records.identified(kind, 3);
    const before = await run.probe.call(`${kind}.get`, { id });
    const body = bodyFor(run, name);
    await run.probe.call(name, { id, key, ...(body !== undefined && { body }) });
    const after = await run.probe.call(`${kind}.get`, { id });
    if (!isUnchanged(before.json, after.json) || before.status !== after.status)
      fail(`the record changed after the other tenant tried ${method}`);
  });
}

/** `true` if an action is held for the tenant of a key when it is checked. */
async function isHeldFor(run: Run, agentId: string, key: string): Promise<boolean> {
  const before = await run.guardian.pending({ key });
  await run.guardian.check(agentId, key);
  return (await run.guardian.pending({ key })).length > before.length;
}

/** Checks of tenant isolation. */
export const tenantChecks: readonly Check[] = [
  ...byId.map(foreignId),
  ...tenantLists.map(foreignList),
  ...tenantLists.map(foreignCursor),
  ...(['agents.update', 'policies.update', 'policies.archive'] as const).map(foreignChange),
  check(requirement, 'an event of the other tenant for a session of this one', async (run) => {
    const key = run.secondTenantKey();
    // Not the main session: the other tenant may now have a readable session with the same id.
    const session = (await run.traffic.settled()).ofAgent.at(-1) as MadeSession;
    const event = run.traffic.event({ agentId: session.agentId, sessionId: session.id });
    const response = await run.probe.call('events.create', { key, body: event });
    // Once a later event is shown, the earlier one would also be shown.
    const later = run.traffic.event({ agentId: session.agentId, sessionId: session.id });
    await run.traffic.post(later);
    const { document } = await run.traffic.detail({ ...session, events: [...session.events, later] });
    if (mentions(document, event.eventId)) fail('the other tenant added an event to a session of this one');
    if (!succeeded(response)) return;
    const foreign = await readSession(run, session.id, key);
    if (session.events.some(({ eventId }) => mentions(foreign.document, eventId)))
      fail('the other tenant sees the events of this one in a session with the same id');
  }),
  check(requirement, 'a decision of the other tenant changes nothing', async (run) => {
    const key = run.secondTenantKey();
    const { id, item, names } = await run.guardian.identified(2);
    const body = run.records.body('guardian.pendingActions.decide', { name: run.newName('foreign') });
    await run.probe.call('guardian.pendingActions.decide', { id, key, body });
    const pending = (await run.guardian.pending()).filter((one) => namesAny(one, names));
    if (!pending.some((one) => isUnchanged(one, item)))
      fail('the held action is no longer pending after the other tenant tried to decide it');
  }),
  check(requirement, 'an action of the other tenant is held for that one alone', async (run) => {
    const key = run.secondTenantKey();
    const { agentId, names, item: held } = await run.guardian.held(2);
    const ofAgent = async () =>
      (await run.guardian.pending()).filter((item) => namesAny(item, { ...names, agentId }));
    const before = (await ofAgent()).length;
    // A deployment may reject an agent that the other tenant does not have.
    const isHeld = await isHeldFor(run, agentId, key);
    // Once an action that was checked later is listed, the earlier one would also be listed.
    const later = (await run.guardian.check(agentId)).names;
    const hasNames = namesAny(held, { ...names, agentId: names.name });
    const isListed = (item: unknown) => namesAny(item, { ...later, agentId: later.name });
    const after = await run.eventually(ofAgent, (items) =>
      hasNames ? items.some(isListed) : items.length > before,
    );
    if (after.length > before + 1) fail('this tenant has to decide an action of the other one');
    if (isHeld && !(await isHeldFor(run, run.newName('agent'), key)))
      fail('a policy of this tenant holds an action of the other one');
  }),
];
