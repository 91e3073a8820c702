import { type ActivityEvent, endpoints } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { describeResponse, holds, mentions, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { copiesOf, isUnchanged, ownerFault, readBackFault } from '../world/event-record.ts';
import { listed } from '../world/list-walk.ts';
import type { MadeSession } from '../world/traffic.ts';
import { expectEnvelope, expectRefusal, expectSuccess } from './expectations.ts';
import { expectListed, isMarked, marksOf } from './lists.ts';

const kinds = ['agents', 'policies', 'notificationChannels'] as const;
const changeable = ['agents', 'policies'] as const;

type Kind = (typeof kinds)[number];
type ChangeableKind = (typeof changeable)[number];

function creation(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.create`], 'creates a record', async ({ records }) => {
    const { response } = await records.made(kind);
    records.taken(`${kind}.create`, response);
    expectSuccess(response);
  });
}

/** Creates two records that no check changes; skips if the deployment requires another body. */
async function twoRecords(run: Run, kind: Kind) {
  const made = [await run.records.made(kind, 2), await run.records.made(kind, 3)];
  for (const { response } of made) {
    run.records.taken(`${kind}.create`, response);
    if (response.status >= 400) skip(`no record can be created: ${describeResponse(response)}`);
  }
  return made;
}

function listing(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'lists created records', async (run) => {
    await expectListed(run, `${kind}.list`, (await twoRecords(run, kind)).map(marksOf));
  });
}

function listedOnce(kind: Kind): Check {
  return check(requirementOfEndpoint[`${kind}.list`], 'lists a record once', async (run) => {
    const made = await twoRecords(run, kind);
    const countsOf = async () => {
      const { items } = await listed(run, `${kind}.list`);
      return made.map((record) => items.filter((item) => isMarked(item, marksOf(record))).length);
    };
    // Other clients may add items between two pages, and the specification allows that to shift pages: retry once.
    if (Math.max(...(await countsOf())) <= 1) return;
    const count = Math.max(...(await countsOf()));
    if (count > 1) fail(`a record that was created once is listed ${count} times`);
  });
}

function reading(kind: ChangeableKind): Check {
  return check(requirementOfEndpoint[`${kind}.get`], 'reads created records', async (run) => {
    const texts: string[] = [];
    for (const number of [2, 3]) {
      const { id, tried, response: created } = await run.records.made(kind, number);
      run.records.taken(`${kind}.create`, created);
      if (id === undefined && tried > 0)
        fail(`none of ${tried} values in ${describeResponse(created)} reads the record`);
      if (id === undefined) return skip('the creation returned no value that could be an identifier');
      const response = await run.probe.call(`${kind}.get`, { id });
      expectSuccess(response);
      if (!holds(response.json, id)) fail(`${describeResponse(response)}, which does not name ${id}`);
      texts.push(response.text);
    }
    if (texts[0] === texts[1]) fail('two records return the same content');
  });
}

function change(kind: ChangeableKind): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'changes a record', async (run) => {
    const { id } = await run.records.identified(kind);
    const other = await run.records.identified(kind, 2);
    const before = await run.probe.call(`${kind}.get`, { id: other.id });
    const text = run.newName('changed');
    const body = run.records.body(name, { name: text });
    const response = await run.probe.call(name, { id, body });
    run.records.taken(name, response);
    expectSuccess(response);
    const after = await run.probe.call(`${kind}.get`, { id: other.id });
    if (!isUnchanged(before.json, after.json)) fail('another record changed, too');
    if (!JSON.stringify(body).includes(text))
      skip('the body has no {name}, so that it cannot be found in the record');
    const read = await run.eventually(
      () => run.probe.call(`${kind}.get`, { id }),
      ({ text: found }) => found.includes(text),
    );
    expectSuccess(read);
    if (!read.text.includes(text))
      fail(`the change returned ${response.status} but is not visible when read`);
  });
}

/** Checks that a list shows a changed record as it is read. A list may show less of it. */
function changeListed(kind: ChangeableKind): Check {
  const name = `${kind}.update` as const;
  return check(requirementOfEndpoint[name], 'lists a record as it was changed', async (run) => {
    const { id } = await run.records.identified(kind, 4);
    const [first, second] = [run.newName('first'), run.newName('second')];
    for (const text of [first, second]) {
      const response = await run.probe.call(name, { id, body: run.records.body(name, { name: text }) });
      run.records.taken(name, response);
      expectSuccess(response);
    }
    const itemText = async () => {
      const { items } = await listed(run, `${kind}.list`);
      return JSON.stringify(items.find((item) => holds(item, id)) ?? '');
    };
    const text = await run.eventually(itemText, (found) => !found.includes(first));
    if (text.includes(first)) fail('the list shows the value before the last change');
  });
}

const malformed = [
  'agents.create',
  'policies.create',
  'policies.check',
  'notificationChannels.create',
] as const;

/** Checks of agents, policies and webhooks. */
export const recordChecks: readonly Check[] = [
  ...kinds.map(creation),
  ...kinds.map(listing),
  ...kinds.map(listedOnce),
  ...changeable.map(reading),
  ...changeable.map(change),
  ...changeable.map(changeListed),
  ...malformed.map((name, index) =>
    check('END-24', `POST ${endpoints[name].path}`, async (run) => {
      const response = (await run.provocations.malformed())[index];
      if (response === undefined) return skip('no response');
      if (response.status === 403) skip(`the key may not do this: ${describeResponse(response)}`);
      expectRefusal(response, 'the body is not JSON');
      expectEnvelope(response);
    }),
  ),
];

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
