import { endpoints } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../check.ts';
import { describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { holds } from '../http/json-search.ts';
import { fail } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import { expectObject, expectSuccess } from './expectations.ts';
import { expectListed } from './listing.ts';

/** Checks of sessions with every way to read them. */
export const sessionChecks: readonly Check[] = [
  safeCheck('SVC-01', 'a JSON response', async ({ probe }) => {
    const response = await probe.call('sessions.list', { query: { limit: 1 } });
    if (response.json === undefined) fail(`${describeResponse(response)}, which is not JSON`);
  }),
  check(requirementOfEndpoint['events.create'], 'is available', async ({ traffic }) => {
    expectSuccess(await traffic.post(traffic.event()));
  }),
  check(requirementOfEndpoint['sessions.list'], 'lists the sessions of the run', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    await expectListed(
      run,
      'sessions.list',
      [...ofAgent, other].map(({ id }) => id),
    );
  }),
  check(requirementOfEndpoint['sessions.get'], 'contains every event', async (run) => {
    const { main } = await run.traffic.sessions();
    const response = await run.traffic.detail(main);
    expectSuccess(response);
    const missing = main.events.filter(({ eventId }) => !holds(response.json, eventId));
    if (missing.length > 0)
      fail(`${missing.length} of ${main.events.length} events are missing from the session`);
  }),
  check(requirementOfEndpoint['sessions.risk'], 'works without a body', async (run) => {
    const { main } = await run.traffic.settled();
    expectSuccess(await run.probe.call('sessions.risk', { id: main.id }));
  }),
  check(requirementOfEndpoint['sessions.export'], 'is one JSON document with every event', async (run) => {
    const { main } = await run.traffic.settled();
    const response = await run.probe.call('sessions.export', { id: main.id });
    expectSuccess(response);
    if (response.json === undefined) fail(`${endpoints['sessions.export'].path} is not one JSON document`);
    const missing = main.events.filter(({ eventId }) => !holds(response.json, eventId));
    if (missing.length > 0)
      fail(`${missing.length} of ${main.events.length} events are missing from the export`);
    if (!holds(response.json, main.id)) fail('the export does not name its session');
  }),
  check('SVC-04', 'each event in its own session', async (run) => {
    const { ofAgent } = await run.traffic.settled();
    for (const session of ofAgent) {
      const response = await run.traffic.detail(session);
      if (!run.traffic.isWhole(response, session))
        fail(`session ${session.id} is missing events that were sent to it`);
      for (const { id, events } of ofAgent) {
        const isForeign = id !== session.id && events.some(({ eventId }) => holds(response.json, eventId));
        if (isForeign) fail(`session ${session.id} contains an event of session ${id}`);
      }
    }
  }),
  check(requirementOfEndpoint['agents.sessions'], 'lists the sessions of the agent', async (run) => {
    const { ofAgent, main } = await run.traffic.settled();
    await expectListed(
      run,
      'agents.sessions',
      ofAgent.map(({ id }) => id),
      { id: main.agentId },
    );
  }),
  check(requirementOfEndpoint['agents.sessions'], 'lists no session of another agent', async (run) => {
    const { main, other } = await run.traffic.settled();
    const page = await run.probe.call('agents.sessions', { id: main.agentId });
    if (succeeded(page) && holds(page.json, other.id)) fail(`it lists session ${other.id} of another agent`);
  }),
  check('RES-01', 'a session by its identifier, and none by an unknown one', async (run) => {
    const { main, other } = await run.traffic.settled();
    const [mine, others] = [await run.traffic.detail(main), await run.traffic.detail(other)];
    expectObject(mine);
    if (mine.text === others.text) fail('two sessions return the same content');
    for (const name of ['sessions.get', 'agents.get', 'policies.get'] as const) {
      const response = await run.probe.call(name, { id: run.newName('nothing') });
      if (succeeded(response)) fail(`${describeResponse(response)}, although nothing has this identifier`);
    }
  }),
  check('RES-02', 'a session with a space, a slash and an umlaut in its identifier', async (run) => {
    await run.traffic.settled();
    const sessionId = `${run.newName('session')} a/ü`;
    const event = run.traffic.event({ sessionId });
    expectSuccess(await run.traffic.post(event));
    const response = await run.traffic.detail({ id: sessionId, agentId: event.agentId, events: [event] });
    if (!holds(response.json, event.eventId)) fail(describeResponse(response));
  }),
  check('RES-03', 'fields of a session', async (run) => {
    const { json } = await run.traffic.detail((await run.traffic.settled()).main);
    return isObject(json) ? Object.keys(json).join(', ') : undefined;
  }),
];
