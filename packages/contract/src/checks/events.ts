import type { ActivityEvent } from '@actlog/protocol';
import { type Check, check } from '../check.ts';
import { type ApiResponse, describeResponse, isObject, type JsonObject } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { copiesOf } from '../world/event.ts';
import { expectEnvelope, expectObject, expectRefusal, expectStatus } from './expectations.ts';

/** ISO 8601 in UTC with milliseconds. */
const millisecondsUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]00:00)$/;

/** Maximum difference between the deployment's clock and ours, in milliseconds. */
const clockToleranceMs = 24 * 3_600_000;

/** Sends a new event and returns its acknowledgement; skips if events are not accepted. */
async function acknowledged(
  run: Run,
): Promise<{ event: ActivityEvent; response: ApiResponse; ack: JsonObject }> {
  const event = run.traffic.event();
  const response = await run.traffic.post(event);
  if (response.status >= 300) skip(`events are not accepted (END-01): ${describeResponse(response)}`);
  return {
    event,
    response,
    ack: isObject(response.json)
      ? response.json
      : fail(`${describeResponse(response)}, which is not a JSON object`),
  };
}

/** Returns the only copy of an event in its session; skips if events cannot be identified. */
async function copyOf(
  run: Run,
  event: ActivityEvent,
  path: 'sessions.get' | 'sessions.export',
): Promise<JsonObject> {
  await run.traffic.settled();
  const response = await run.probe.call(path, { id: event.sessionId });
  const [copy] = copiesOf(response.json, event);
  return copy ?? skip(`no event with this payload can be identified in the response of ${response.path}`);
}

/** Fails if a copy has another value in a field. */
function expectSame(copy: JsonObject, event: ActivityEvent, field: keyof ActivityEvent): void {
  if (!(field in copy)) return;
  const [sent, found] = [event[field], copy[field]];
  const isSame =
    field === 'sourceTimestamp'
      ? Date.parse(String(found)) === Date.parse(String(sent))
      : field === 'payload'
        ? isObject(found) &&
          Object.entries(sent).every(([name, value]) => !(name in found) || found[name] === value)
        : found === sent;
  if (!isSame) fail(`${field} was sent as ${JSON.stringify(sent)} but returned as ${JSON.stringify(found)}`);
}

const readBack = ['eventId', 'sourceTimestamp', 'category', 'schemaVersion', 'payload'] as const;

/** Checks of sending events and reading them back. */
export const eventChecks: readonly Check[] = [
  check('ING-01', 'a complete event', async ({ traffic }) => {
    const response = await traffic.post(traffic.event());
    if (response.status >= 400) skip(`events are not accepted (END-01): ${describeResponse(response)}`);
    expectStatus(response, 202);
  }),
  ...[
    ['a body that is not JSON', '{"eventId":'],
    ['a body that is an array', '[]'],
    ['a body that is a string', '"event"'],
    ['an empty body', ''],
  ].map(([name, rawBody = '']) =>
    check('ING-02', name as string, async ({ traffic }) => {
      const response = await traffic.postText(rawBody);
      expectRefusal(response, 'it is not an event');
      expectEnvelope(response);
    }),
  ),
  check('ACK-01', 'eventId', async (run) => {
    const { event, ack } = await acknowledged(run);
    if (ack.eventId !== event.eventId)
      fail(`eventId is ${JSON.stringify(ack.eventId)}, not the one that was sent`);
  }),
  check('ACK-02', 'receivedAt', async (run) => {
    const { receivedAt } = (await acknowledged(run)).ack;
    if (typeof receivedAt !== 'string' || !millisecondsUtc.test(receivedAt)) {
      fail(`receivedAt is ${JSON.stringify(receivedAt)}, not ISO 8601 in UTC with milliseconds`);
    }
    const difference = Math.abs(Date.parse(receivedAt as string) - Date.now());
    if (!(difference <= clockToleranceMs))
      fail(`receivedAt is ${receivedAt}, far from the time of the request`);
  }),
  check('ACK-03', 'warnings', async (run) => {
    const { warnings } = (await acknowledged(run)).ack;
    if (!Array.isArray(warnings)) fail(`warnings is ${JSON.stringify(warnings)}, not an array`);
  }),
  check('ACK-04', 'shape of warnings', async (run) => {
    const { warnings } = (await acknowledged(run)).ack;
    const [first] = Array.isArray(warnings) ? warnings : [];
    return isObject(first) ? `objects with ${Object.keys(first).join(', ')}` : `no warnings were returned`;
  }),
  check('SVC-03', 'agent and session are returned', async (run) => {
    const { main } = await run.traffic.settled();
    for (const event of main.events) {
      const copy = await copyOf(run, event, 'sessions.get');
      expectSame(copy, event, 'agentId');
      expectSame(copy, event, 'sessionId');
    }
  }),
  check('EVT-11', 'in the session', async (run) => {
    const { main } = await run.traffic.settled();
    for (const event of main.events) {
      const copy = await copyOf(run, event, 'sessions.get');
      for (const field of readBack) expectSame(copy, event, field);
    }
  }),
  check('EVT-11', 'in the export', async (run) => {
    const { main } = await run.traffic.settled();
    for (const event of main.events) {
      const copy = await copyOf(run, event, 'sessions.export');
      for (const field of readBack) expectSame(copy, event, field);
    }
  }),
  check('EVT-12', 'one copy per event', async (run) => {
    const { main } = await run.traffic.settled();
    const { json } = await run.traffic.detail(main);
    for (const event of main.events) {
      const { length } = copiesOf(json, event);
      if (length > 1) fail(`event ${event.eventId} was sent once but occurs ${length} times in its session`);
    }
  }),
  check('EVT-13', 'the same event again', async (run) => {
    const sessionId = run.newName('again');
    const event = run.traffic.event({ sessionId });
    await run.traffic.settled();
    expectObject(await run.traffic.post(event));
    expectObject(await run.traffic.post(event));
    const { json } = await run.traffic.detail({ id: sessionId, agentId: event.agentId, events: [event] });
    const { length } = copiesOf(json, event);
    if (length > 1) fail(`an event that was sent twice occurs ${length} times in its session`);
  }),
];
