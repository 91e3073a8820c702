import { endpoints } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../check.ts';
import { isObject, succeeded, told } from '../http/answer.ts';
import { holds } from '../http/json-search.ts';
import { fail } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import { expectObject, expectSuccess } from './expectations.ts';
import { expectListed } from './listing.ts';

/** Sessions, read in every way. */
export const sessionChecks: readonly Check[] = [
  safeCheck('SVC-01', 'an answer in JSON', async ({ probe }) => {
    const answer = await probe.call('sessions.list', { query: { limit: 1 } });
    if (answer.json === undefined) fail(`${told(answer)}, which is not JSON`);
  }),
  check(requirementOfEndpoint['events.create'], 'is served', async ({ traffic }) => {
    expectSuccess(await traffic.post(traffic.event()));
  }),
  check(requirementOfEndpoint['sessions.list'], 'shows the sessions of the run', async (run) => {
    const { ofAgent, other } = await run.traffic.settled();
    await expectListed(
      run,
      'sessions.list',
      [...ofAgent, other].map(({ id }) => id),
    );
  }),
  check(requirementOfEndpoint['sessions.get'], 'holds every event', async (run) => {
    const { main } = await run.traffic.sessions();
    const answer = await run.traffic.detail(main);
    expectSuccess(answer);
    const missing = main.events.filter(({ eventId }) => !holds(answer.json, eventId));
    if (missing.length > 0)
      fail(`the session lacks ${missing.length} of the ${main.events.length} events sent to it`);
  }),
  check(requirementOfEndpoint['sessions.risk'], 'is answered without a body', async (run) => {
    const { main } = await run.traffic.settled();
    expectSuccess(await run.probe.call('sessions.risk', { id: main.id }));
  }),
  check(requirementOfEndpoint['sessions.export'], 'is one JSON document with every event', async (run) => {
    const { main } = await run.traffic.settled();
    const answer = await run.probe.call('sessions.export', { id: main.id });
    expectSuccess(answer);
    if (answer.json === undefined) fail(`${endpoints['sessions.export'].path} is not one JSON document`);
    const missing = main.events.filter(({ eventId }) => !holds(answer.json, eventId));
    if (missing.length > 0) fail(`the export lacks ${missing.length} of the ${main.events.length} events`);
    if (!holds(answer.json, main.id)) fail('the export does not name its session');
  }),
  check('SVC-04', 'each event in its own session', async (run) => {
    const { ofAgent } = await run.traffic.settled();
    for (const session of ofAgent) {
      const answer = await run.traffic.detail(session);
      if (!run.traffic.isWhole(answer, session))
        fail(`session ${session.id} lacks events that were sent to it`);
      for (const { id, events } of ofAgent) {
        const isForeign = id !== session.id && events.some(({ eventId }) => holds(answer.json, eventId));
        if (isForeign) fail(`session ${session.id} holds an event of session ${id}`);
      }
    }
  }),
  check(requirementOfEndpoint['agents.sessions'], 'shows the sessions of the agent', async (run) => {
    const { ofAgent, main } = await run.traffic.settled();
    await expectListed(
      run,
      'agents.sessions',
      ofAgent.map(({ id }) => id),
      { id: main.agentId },
    );
  }),
  check(requirementOfEndpoint['agents.sessions'], 'shows no session of another agent', async (run) => {
    const { main, other } = await run.traffic.settled();
    const page = await run.probe.call('agents.sessions', { id: main.agentId });
    if (succeeded(page) && holds(page.json, other.id)) fail(`it shows session ${other.id} of another agent`);
  }),
  check('RES-01', 'a session by its identifier, and none by another', async (run) => {
    const { main, other } = await run.traffic.settled();
    const [mine, others] = [await run.traffic.detail(main), await run.traffic.detail(other)];
    expectObject(mine);
    if (mine.text === others.text) fail('two sessions are answered with the same content');
    for (const name of ['sessions.get', 'agents.get', 'policies.get'] as const) {
      const answer = await run.probe.call(name, { id: run.newName('nothing') });
      if (succeeded(answer)) fail(`${told(answer)}, though nothing has this identifier`);
    }
  }),
  check('RES-02', 'a session with a space, a slash and an umlaut in its identifier', async (run) => {
    await run.traffic.settled();
    const sessionId = `${run.newName('session')} a/ü`;
    const event = run.traffic.event({ sessionId });
    expectSuccess(await run.traffic.post(event));
    const answer = await run.traffic.detail({ id: sessionId, agentId: event.agentId, events: [event] });
    if (!holds(answer.json, event.eventId)) fail(told(answer));
  }),
  check('RES-03', 'fields of a session', async (run) => {
    const { json } = await run.traffic.detail((await run.traffic.settled()).main);
    return isObject(json) ? Object.keys(json).join(', ') : undefined;
  }),
];
