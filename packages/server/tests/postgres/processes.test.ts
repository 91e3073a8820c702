import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { ChildServer } from '../child-server.ts';
import { asSuperuser, makeDatabase, onPostgres, testSecret } from '../test-database.ts';
import { activityEvent, type TestServer, testServer } from '../test-server.ts';

const processes = 4;
const apiKey = newApiKey('test');
const options = { secret: testSecret, apiKey, docs: false };

let database: Awaited<ReturnType<typeof makeDatabase>>;
let children: ChildServer[];

// Four processes on one database for all tests, because starting them takes most of the time.
beforeAll(async () => {
  if (!onPostgres) return;
  database = await makeDatabase();
  const start = () => ChildServer.start({ ...options, database: database.url });
  children = [await start(), ...(await Promise.all(Array.from({ length: processes - 1 }, start)))];
}, 120_000);

afterAll(async () => {
  if (!onPostgres) return;
  for (const child of children) await child.kill();
  await database.drop();
});

/** Starts a server in this process for reading. */
async function reading(): Promise<TestServer> {
  return (await testServer({ ...options, database: database.url })).as(apiKey);
}

type Event = ReturnType<typeof activityEvent>;

/** Sends an event until it is acknowledged, to another process if the first one dies. */
async function send(event: Event, first: number): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const child = children[(first + attempt) % children.length] as ChildServer;
    try {
      const response = await fetch(`${child.url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(event),
      });
      await response.arrayBuffer();
      if (response.status === 202) return;
      if (response.status !== 503) throw new TypeError(`The response to the event was ${response.status}.`);
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith('The event')) throw error;
    }
    // A dead process refuses at once; then the next one is tried.
    await setTimeout(1);
  }
  throw new Error('No process took the event.');
}

/** Sends events from many concurrent queues. */
async function sendAll(
  events: readonly Event[],
  queues: number,
  sendOne: (event: Event, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: queues }, async () => {
      for (let index = next++; index < events.length; index = next++) {
        await sendOne(events[index] as Event, index);
      }
    }),
  );
}

/** Expects each session to contain exactly the sent events, and its summary and risk to count them. */
async function expectWhole(reader: TestServer, sent: readonly Event[]): Promise<void> {
  for (const [sessionId, events] of Map.groupBy(sent, (event) => event.sessionId)) {
    const document = await reader.ok('sessions.export', { id: sessionId });
    expect(document.events.map(({ eventId }) => eventId).sort()).toEqual(
      [...new Set(events.map(({ eventId }) => eventId))].sort(),
    );
    const { eventCount, errorCount, agentIds, toolNames, risk } = document.session;
    const { events: kept } = document;
    const failed = kept.filter(({ payload }) => Number(payload?.responseStatus) >= 400);
    expect([eventCount, errorCount, document.risk.eventCount]).toEqual([
      kept.length,
      failed.length,
      kept.length,
    ]);
    expect([...(agentIds ?? [])].sort()).toEqual([...new Set(kept.map(({ agentId }) => agentId))].sort());
    expect([...(toolNames ?? [])].sort()).toEqual(
      [...new Set(kept.map(({ payload }) => payload?.toolName))].sort(),
    );
    expect(risk).toEqual({ score: document.risk.score, level: document.risk.level });
  }
}

/** Returns events of a few sessions, agents and tools. */
function mixedEvents(name: string, count: number): Event[] {
  return Array.from({ length: count }, (_, index) =>
    activityEvent({
      sessionId: `${name}-${index % 7}`,
      agentId: `agent-${index % 3}`,
      payload: {
        toolName: `tool_${index % 5}`,
        argumentsHash: 'sha256:aa',
        responseStatus: index % 11 === 0 ? 500 : 200,
      },
    }),
  );
}

test('stores each event once when four processes receive the same events concurrently', {
  timeout: 90_000,
}, async () => {
  const events = mixedEvents('crowd', 900);
  // Every third event is sent twice, to two processes.
  const sent = events.flatMap((event, index) => (index % 3 === 0 ? [event, event] : [event]));
  await sendAll(sent, 48, send);
  await expectWhole(await reading(), events);
  const [counts] = await asSuperuser<{ events: number; arrivals: number }>(
    `select (select count(*)::int from events where session_id like 'crowd-%') as events,
      (select count(distinct (session_id, arrival))::int from events where session_id like 'crowd-%') as arrivals`,
    database.url,
  );
  expect(counts).toEqual({ events: events.length, arrivals: events.length });
});

test('accepts one of racing decisions on all processes, and notifies every waiting caller', {
  timeout: 60_000,
}, async () => {
  const reader = await reading();
  await reader.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await reader.check({ actionId: 'a' });
  const call = (child: ChildServer, path: string, body: object, headers = {}) =>
    fetch(child.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
  const checked = { agentId: 'billing-agent', sessionId: 'thread-1', action, actionId: 'a' };
  const waiting = children.map((child) => call(child, '/v1/policies/check', checked, { prefer: 'wait=25' }));
  const decisions = await Promise.all(
    children.map((child, index) =>
      call(child, `/v1/guardian/pending-actions/${id}/decide`, {
        decision: index % 2 === 0 ? 'approve' : 'deny',
        comment: `by ${index}`,
      }),
    ),
  );
  const responses = await Promise.all(
    decisions.map(async (response) => [response.status, await response.json()]),
  );
  const won = responses.filter(([status]) => status === 200);
  expect(
    new Set(won.map(([, body]) => (body as { decision: { comment: string } }).decision.comment)).size,
  ).toBe(1);
  expect(won).toHaveLength(processes / 2);
  const checks = await Promise.all(waiting.map(async (response) => (await response).json()));
  const [[, decided] = []] = won;
  const { status } = decided as { status: string };
  expect(new Set((checks as { decision: string }[]).map(({ decision }) => decision))).toEqual(
    new Set([status === 'approved' ? 'allow' : 'deny']),
  );
});

test('loses no acknowledged event when a process is killed under load, and the others continue', {
  timeout: 90_000,
}, async () => {
  const events = mixedEvents('killed', 600);
  let acknowledged = 0;
  let killed: Promise<void> | undefined;
  await sendAll(events, 32, async (event, index) => {
    await send(event, index);
    acknowledged += 1;
    if (acknowledged === 200) killed = (children[0] as ChildServer).kill();
  });
  await killed;
  await expectWhole(await reading(), events);
});
