import type { ActivityEvent } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { describeResponse, succeeded } from '../http/api-response.ts';
import { mentions } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { copiesOf, ownerFault, readBackFault } from '../world/event-record.ts';
import type { MadeSession } from '../world/traffic.ts';
import { expectSuccess } from './expectations.ts';

/** Ways to read the events of a session, with the words for them. */
const ways = [
  ['in the session', 'sessions.get'],
  ['in the export', 'sessions.export'],
] as const;

type Way = (typeof ways)[number][1];

/** Numbers of the agents that share a session. */
const sharingAgents = [91, 92];

/** Returns the documents with the events of a session. */
async function documentsOf(run: Run, session: MadeSession, way: Way): Promise<readonly unknown[]> {
  if (way === 'sessions.get') return (await run.traffic.detail(session)).pages;
  const response = await run.probe.call(way, { id: session.id });
  if (!succeeded(response)) skip(`the export cannot be read (END-05): ${describeResponse(response)}`);
  return [response.json];
}

/** Returns the first fault of a session's events; skips if an event cannot be found. */
async function firstFault(
  run: Run,
  way: Way,
  fault: (documents: readonly unknown[], event: ActivityEvent, session: MadeSession) => string | undefined,
): Promise<string | undefined> {
  const { main, ofAgent } = await run.traffic.settled();
  for (const session of [main, ofAgent.at(-1) as MadeSession]) {
    const documents = await documentsOf(run, session, way);
    for (const event of session.events) {
      if (!mentions(documents, event.eventId)) skip(`an event is missing ${way} (END-03, END-05)`);
      const found = fault(documents, event, session);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Sends an event three times, twice at once; returns the last response and the session with the event. */
async function repeatedly(run: Run) {
  const sessionId = run.newName('again');
  const event = run.traffic.event({ sessionId });
  const session = { id: sessionId, agentId: event.agentId, events: [event] };
  const first = await Promise.all([run.traffic.post(event), run.traffic.post(event)]);
  if (!first.some(succeeded))
    skip(`events are not accepted (END-01): ${first.map(describeResponse).join(', ')}`);
  return { session, event, last: await run.traffic.post(event) };
}

/** Checks of reading events back. */
export const readBackChecks: readonly Check[] = [
  ...ways.flatMap(([where, way]) => [
    check('SVC-03', `agent and session ${where}`, async (run) => {
      const found = await firstFault(run, way, (documents, event, session) => {
        const records = run.traffic.recordsOf(documents, event, session);
        return (
          ownerFault(documents, records, event, 'agentId') ??
          ownerFault(documents, records, event, 'sessionId')
        );
      });
      if (found !== undefined) fail(found);
    }),
    check('EVT-11', where, async (run) => {
      const found = await firstFault(run, way, (documents, event, session) =>
        readBackFault(run.traffic.recordsOf(documents, event, session), event),
      );
      if (found !== undefined) fail(found);
    }),
    check('EVT-11', `letters of every script and case ${where}`, async (run) => {
      await run.traffic.settled();
      const sessionId = run.newName('letters');
      const event = run.traffic.event({ sessionId });
      const sent = { ...event, payload: { ...event.payload, toolName: 'Contract.Größe_北京_🙂.getURL' } };
      const response = await run.traffic.post(sent);
      if (!succeeded(response)) skip(`the tool name is rejected (EVT-08): ${describeResponse(response)}`);
      const session = { id: sessionId, agentId: event.agentId, events: [sent] };
      await run.traffic.detail(session);
      const documents = await documentsOf(run, session, way);
      if (!mentions(documents, event.eventId)) skip(`the event is missing ${where} (END-03, END-05)`);
      const found = readBackFault(run.traffic.recordsOf(documents, sent, session), sent);
      if (found !== undefined) fail(found);
    }),
    check('SVC-03', `two agents in one session ${where}`, async (run) => {
      await run.traffic.settled();
      const id = run.newName('shared');
      const events: ActivityEvent[] = [];
      for (const number of sharingAgents) {
        const agent = await run.records.made('agents', number);
        events.push(run.traffic.event({ agentId: agent.id ?? run.newName('agent'), sessionId: id }));
      }
      const sent: ActivityEvent[] = [];
      for (const event of events) if (succeeded(await run.traffic.post(event))) sent.push(event);
      // A deployment may give each session one agent, as long as it says so.
      if (sent.length < events.length) return 'events of a second agent are refused';
      const session = { id, agentId: sent[0]?.agentId ?? '', events: sent };
      await run.traffic.detail(session);
      const documents = await documentsOf(run, session, way);
      for (const event of sent) {
        if (!mentions(documents, event.eventId))
          fail(`the event of agent ${event.agentId} is missing ${where}`);
        const records = run.traffic.recordsOf(documents, event, session);
        const found = ownerFault(documents, records, event, 'agentId');
        if (found !== undefined) fail(found);
      }
      return undefined;
    }),
    check('EVT-12', `one copy of each event ${where}`, async (run) => {
      const found = await firstFault(run, way, (documents, event) => {
        const count = documents.reduce<number>((sum, document) => sum + copiesOf(document, event), 0);
        return count > 1 ? `event ${event.eventId} was sent once but occurs ${count} times` : undefined;
      });
      if (found !== undefined) fail(found);
    }),
    check('EVT-12', `one copy of an event that was sent three times, ${where}`, async (run) => {
      await run.traffic.settled();
      const { session, event } = await repeatedly(run);
      await run.traffic.detail(session);
      const documents = await documentsOf(run, session, way);
      if (!mentions(documents, event.eventId)) fail('an event is missing after it was sent three times');
      const count = documents.reduce<number>((sum, document) => sum + copiesOf(document, event), 0);
      if (count > 1) fail(`the event occurs ${count} times`);
    }),
  ]),
  check('EVT-13', 'the same event again', async (run) => {
    expectSuccess((await repeatedly(run)).last);
  }),
];
