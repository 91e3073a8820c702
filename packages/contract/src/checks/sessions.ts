import { endpoints } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../check.ts';
import {
  type ApiResponse,
  describeResponse,
  holds,
  isObject,
  mentions,
  succeeded,
} from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { listed } from '../world/list-walk.ts';
import type { MadeSession } from '../world/traffic.ts';
import { expectObject, expectRefusal, expectSuccess } from './expectations.ts';
import { expectListed } from './lists.ts';

/** Fails if a response about one session mentions an event of another one. */
function expectNoForeignEvent(document: unknown, session: MadeSession, all: readonly MadeSession[]): void {
  for (const { id, events } of all) {
    const isForeign = id !== session.id && events.some(({ eventId }) => mentions(document, eventId));
    if (isForeign) fail(`session ${session.id} contains an event of session ${id}`);
  }
}

/** Fails if a response names another session of the run instead of its own. */
function expectOwnSession(response: ApiResponse, session: MadeSession, all: readonly MadeSession[]): void {
  const foreign = all.find(({ id }) => id !== session.id && holds(response.json, id));
  if (foreign && !holds(response.json, session.id))
    fail(`${describeResponse(response)}, which is about session ${foreign.id}`);
}

/** Fails unless a document mentions every event of a session. */
function expectEvery(document: unknown, { events }: MadeSession, where: string): void {
  const missing = events.filter(({ eventId }) => !mentions(document, eventId));
  if (missing.length > 0) fail(`${missing.length} of ${events.length} events are missing from the ${where}`);
}

/** Returns the export of a session; fails unless it can be read. */
async function exported(run: Run, session: MadeSession): Promise<ApiResponse> {
  const response = await run.probe.call('sessions.export', { id: session.id });
  expectSuccess(response);
  return response;
}

/** Checks of sessions with every way to read them. */
export const sessionChecks: readonly Check[] = [
  safeCheck('SVC-01', 'a JSON response', async ({ probe }) => {
    const response = await probe.call('sessions.list', { query: { limit: 1 } });
    if (response.json === undefined) fail(`${describeResponse(response)}, which is not JSON`);
  }),
  check(requirementOfEndpoint['events.create'], 'is available', async ({ traffic }) => {
    await traffic.expectTaken(await traffic.post(traffic.event()));
  }),
  check(requirementOfEndpoint['sessions.list'], 'lists the sessions of the run', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    await expectListed(
      run,
      'sessions.list',
      [...ofAgent, other].map(({ id }) => [id]),
    );
  }),
  check(requirementOfEndpoint['sessions.get'], 'contains every event', async (run) => {
    const { main } = await run.traffic.sessions();
    const { first, document } = await run.traffic.detail(main);
    expectSuccess(first);
    expectEvery(document, main, 'session');
  }),
  check(requirementOfEndpoint['sessions.risk'], 'works without a body', async (run) => {
    const { main, ofAgent, other } = await run.traffic.settled();
    const response = await run.probe.call('sessions.risk', { id: main.id });
    expectSuccess(response);
    expectOwnSession(response, main, [...ofAgent, other]);
  }),
  check(requirementOfEndpoint['sessions.export'], 'is one JSON document with every event', async (run) => {
    const { main, ofAgent, other } = await run.traffic.settled();
    const response = await exported(run, main);
    if (response.json === undefined) fail(`${endpoints['sessions.export'].path} is not one JSON document`);
    expectEvery(response.json, main, 'export');
    if (!holds(response.json, main.id)) fail('the export does not name its session');
    expectNoForeignEvent(response.json, main, [...ofAgent, other]);
  }),
  check('SVC-04', 'each event in its own session', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    const all = [...ofAgent, other];
    for (const session of all) {
      const read = await run.traffic.detail(session);
      if (!run.traffic.isWhole(read, session))
        fail(`session ${session.id} is missing events that were sent to it`);
      expectNoForeignEvent(read.document, session, all);
    }
  }),
  check('SVC-04', 'sessions whose identifiers differ in case, or begin alike', async (run) => {
    await run.traffic.settled();
    const base = run.newName('alike');
    const sessions: MadeSession[] = [];
    for (const id of [`${base}-a`, `${base}-A`, `${base}-a1`]) {
      const event = run.traffic.event({ sessionId: id });
      // A deployment may refuse an identifier, but not take it for another one.
      if (succeeded(await run.traffic.post(event)))
        sessions.push({ id, agentId: event.agentId, events: [event] });
    }
    for (const session of sessions) {
      const read = await run.traffic.detail(session);
      if (!run.traffic.isWhole(read, session)) fail(`session ${session.id} is missing its event`);
      expectNoForeignEvent(read.document, session, sessions);
    }
  }),
  check('SVC-04', 'each event in the export of its session', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    const last = ofAgent.at(-1) as MadeSession;
    for (const session of [last, other]) {
      const { json } = await exported(run, session);
      expectEvery(json, session, 'export');
      expectNoForeignEvent(json, session, [...ofAgent, other]);
    }
  }),
  check(requirementOfEndpoint['agents.sessions'], 'lists the sessions of the agent', async (run) => {
    const { ofAgent, main } = await run.traffic.settled();
    const ids = ofAgent.map(({ id }) => [id]);
    await expectListed(run, 'agents.sessions', ids, { id: main.agentId });
  }),
  check(requirementOfEndpoint['agents.sessions'], 'lists no session of another agent', async (run) => {
    const { main, ofAgent, other } = await run.traffic.settled();
    for (const [agentId, own] of [
      [main.agentId, ofAgent],
      [other.agentId, [other]],
    ] as const) {
      const { items, ended } = await listed(run, 'agents.sessions', { id: agentId });
      const foreign = items.filter((item) => !own.some(({ id }) => holds(item, id)));
      if (foreign.length > 0)
        fail(`${foreign.length} of the ${items.length} sessions of agent ${agentId} are not its own`);
      if (!ended) skip('the end of the list was not reached (PAG-02)');
    }
  }),
  check(
    requirementOfEndpoint['agents.sessions'],
    'lists no session of an agent that is named alike',
    async (run) => {
      await run.traffic.settled();
      const base = run.newName('alike');
      const events = [`${base}-a`, `${base}-a1`, `${base}-A`].map((agentId) =>
        run.traffic.event({ agentId, sessionId: run.newName('alike') }),
      );
      const taken: typeof events = [];
      for (const event of events) if (succeeded(await run.traffic.post(event))) taken.push(event);
      if (taken.length < 2) skip('events of agents that are not registered are refused');
      for (const { agentId, sessionId } of taken) {
        await run.traffic.detail({
          id: sessionId,
          agentId,
          events: taken.filter((one) => one.agentId === agentId),
        });
        const { items } = await listed(run, 'agents.sessions', { id: agentId });
        const foreign = taken.find(
          (one) => one.agentId !== agentId && items.some((item) => holds(item, one.sessionId)),
        );
        if (foreign) fail(`the sessions of agent ${agentId} include one of agent ${foreign.agentId}`);
      }
    },
  ),
  check(requirementOfEndpoint['agents.sessions'], 'lists no session of an unknown agent', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    const page = await run.probe.call('agents.sessions', { id: run.newName('nothing') });
    const shown = [...ofAgent, other].filter(({ id }) => succeeded(page) && holds(page.json, id));
    if (shown.length > 0) fail(`it lists ${shown.length} sessions of other agents`);
  }),
  check('RES-01', 'a session by its identifier', async (run) => {
    const { main, ofAgent, other } = await run.traffic.settled();
    const [mine, others] = [await run.traffic.detail(main), await run.traffic.detail(other)];
    expectObject(mine.first);
    if (mine.first.text === others.first.text) fail('two sessions return the same content');
    expectOwnSession(mine.first, main, [...ofAgent, other]);
  }),
  ...(['sessions.get', 'sessions.risk', 'sessions.export', 'agents.get', 'policies.get'] as const).map(
    (name) =>
      safeCheck('RES-01', `GET ${endpoints[name].path} of an unknown identifier`, async (run) => {
        const response = await run.probe.call(name, { id: run.newName('nothing') });
        if (succeeded(response)) fail(`${describeResponse(response)}, although nothing has this identifier`);
      }),
  ),
  ...(['agents.update', 'policies.update'] as const).map((name) =>
    check('RES-01', `PATCH ${endpoints[name].path} of an unknown identifier`, async (run) => {
      const body = run.records.body(name, { name: run.newName('changed') });
      const response = await run.probe.call(name, { id: run.newName('nothing'), body });
      expectRefusal(response, 'nothing has this identifier');
    }),
  ),
  check('RES-02', 'a session with a space, a slash and an umlaut in its identifier', async (run) => {
    await run.traffic.settled();
    const sessionId = `${run.newName('session')} a/ü`;
    const event = run.traffic.event({ sessionId });
    expectSuccess(await run.traffic.post(event));
    const { first, document } = await run.traffic.detail({
      id: sessionId,
      agentId: event.agentId,
      events: [event],
    });
    if (!mentions(document, event.eventId)) fail(describeResponse(first));
  }),
  check('RES-03', 'fields of a session', async (run) => {
    const { first } = await run.traffic.detail((await run.traffic.settled()).main);
    return isObject(first.json) ? Object.keys(first.json).join(', ') : undefined;
  }),
];
