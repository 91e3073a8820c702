import { createHash } from 'node:crypto';
import { limits } from '@actlog/protocol';
import { type Check, check } from '../../check.ts';
import { fail } from '../../outcome.ts';
import { expectCode, expectStatus } from '../expectations.ts';
import { expectEqual, sent } from './reference.ts';

/** Returns the raw text of the member `events` of an export. */
function eventsText(document: string): string {
  const start = document.indexOf('"events":[') + '"events":'.length;
  const end = document.lastIndexOf('],"eventCount"') + 1;
  return document.slice(start, end);
}

/** Checks of events and sessions. */
export const referenceEventChecks: readonly Check[] = [
  ...['eventId', 'agentId', 'sessionId', 'sourceTimestamp', 'category', 'schemaVersion', 'payload'].map(
    (field) =>
      check('PRF-04', `without ${field}`, async ({ traffic }) => {
        expectStatus(await traffic.post({ ...traffic.event(), [field]: undefined }), 400);
      }),
  ),
  check('PRF-05', 'the same event twice', async (run) => {
    const sessionId = run.newName('twice');
    const body = run.traffic.event({ sessionId });
    const first = await sent(run, 'events.create', { body });
    const second = await sent(run, 'events.create', { body });
    expectEqual(second.receivedAt, first.receivedAt, 'the second receivedAt');
    const eventId = body.eventId.toUpperCase();
    const spelled = await sent(run, 'events.create', { body: { ...body, eventId } });
    expectEqual(spelled.eventId, eventId, 'the eventId of the acknowledgement');
    expectEqual(spelled.receivedAt, first.receivedAt, 'the receivedAt of the id in upper case');
    expectEqual((await sent(run, 'sessions.get', { id: sessionId })).eventCount, 1, 'eventCount');
  }),
  check('PRF-06', 'another event with the same eventId', async (run) => {
    const sessionId = run.newName('reused');
    const body = run.traffic.event({ sessionId });
    await sent(run, 'events.create', { body });
    const { warnings } = await sent(run, 'events.create', { body: { ...body, category: 'contract_other' } });
    if (!warnings.some(({ code }) => code === 'EVENT_ID_REUSED'))
      fail('the warning EVENT_ID_REUSED is missing');
    const { events } = await sent(run, 'sessions.get', { id: sessionId });
    expectEqual(
      events.map(({ category }) => category),
      [body.category],
      'the stored categories',
    );
  }),
  check('PRF-07', 'warnings of a registered and of an unknown agent', async (run) => {
    const { id } = await run.records.identified('agents', 5);
    const clean = run.traffic.event({ agentId: id, sessionId: run.newName('clean') });
    expectEqual((await sent(run, 'events.create', { body: clean })).warnings, [], 'warnings');
    const agentId = run.newName('unregistered');
    const unknown = run.traffic.event({ agentId, sessionId: agentId });
    const { warnings } = await sent(run, 'events.create', { body: unknown });
    expectEqual(
      warnings.map(({ code }) => code),
      ['AGENT_NOT_REGISTERED'],
      'the codes of warnings',
    );
  }),
  check('PRF-08', 'an unregistered agent that sent an event', async (run) => {
    const agentId = run.newName('unregistered');
    await sent(run, 'events.create', { body: run.traffic.event({ agentId, sessionId: agentId }) });
    expectEqual((await sent(run, 'agents.get', { id: agentId })).registered, false, 'registered');
  }),
  check('PRF-09', 'a custom category and the reserved one', async ({ traffic }) => {
    expectStatus(await traffic.post(traffic.event({ category: 'contract_own', payload: { any: [1] } })), 202);
    for (const category of ['guardian_decision', 'Guardian_decision\u00a0']) {
      expectCode(await traffic.post(traffic.event({ category, payload: {} })), 'VALIDATION_ERROR');
    }
  }),
  check('PRF-14', 'the counters of a session', async (run) => {
    const sessionId = run.newName('counted');
    const agentId = run.newName('counted-agent');
    const tools = ['b_tool', 'a_tool', 'b_tool'];
    const ids: string[] = [];
    for (const [index, toolName] of tools.entries()) {
      const body = run.traffic.event({
        sessionId,
        agentId,
        sourceTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
        payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: index === 0 ? 500 : 200 },
      });
      ids.push((await sent(run, 'events.create', { body })).eventId);
    }
    const session = await sent(run, 'sessions.get', { id: sessionId, query: { limit: 2 } });
    expectEqual([session.eventCount, session.errorCount], [3, 1], 'eventCount and errorCount');
    expectEqual(session.toolNames, ['b_tool', 'a_tool'], 'toolNames');
    expectEqual(session.agentIds, [agentId], 'agentIds');
    const rest = await sent(run, 'sessions.get', {
      id: sessionId,
      query: { limit: 2, cursor: session.nextCursor ?? '' },
    });
    expectEqual(
      [...session.events, ...rest.events].map(({ eventId }) => eventId),
      ids,
      'the order of events',
    );
    expectEqual(rest.nextCursor, null, 'nextCursor of the last page');
  }),
  check('PRF-15', 'contentSha256', async (run) => {
    const { main } = await run.traffic.settled();
    const { text } = await run.probe.call('sessions.export', { id: main.id });
    const document = JSON.parse(text) as { contentSha256?: string; eventCount?: number };
    const hash = createHash('sha256').update(eventsText(text)).digest('hex');
    expectEqual(document.contentSha256, hash, 'contentSha256');
    expectEqual(document.eventCount, main.events.length, 'eventCount');
  }),
  check('PRF-26', 'a body that is too large, and one that is too deep', async ({ traffic }) => {
    const large = { text: 'a'.repeat(limits.maxBodyBytes) };
    expectStatus(await traffic.post(traffic.event({ category: 'contract_large', payload: large })), 413);
    let deep: object = {};
    for (let level = 0; level <= limits.maxJsonDepth; level += 1) deep = { deep };
    expectStatus(await traffic.post(traffic.event({ category: 'contract_deep', payload: { deep } })), 400);
  }),
];
