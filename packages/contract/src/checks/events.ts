import type { ActivityEvent } from '@actlog/protocol';
import { type Check, check, lastWritingCheck } from '../check.ts';
import { type ApiResponse, describeResponse, isObject, succeeded } from '../http/api-response.ts';
import { mentions } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { expectEnvelope, expectRefusal, expectStatus } from './expectations.ts';

/** ISO 8601 in UTC with milliseconds. */
const millisecondsUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]00:00)$/;

/** Maximum difference between `receivedAt` and the `Date` of the response, in milliseconds. */
const dateToleranceMs = 10 * 60_000;

/** Maximum difference between the deployment's clock and ours, for a response without `Date`, in milliseconds. */
const clockToleranceMs = 24 * 3_600_000;

/** Age of an event that cannot have been received at the time of its source, in milliseconds. */
const clearlyEarlierMs = 30_000;

/** Bodies that are no events. */
const invalidBodies: readonly (readonly [name: string, rawBody: string])[] = [
  ['a body that is not JSON', '{"eventId":'],
  ['a body that is an array', '[]'],
  ['a body that is a string', '"event"'],
  ['an empty body', ''],
];

/** Returns every successful response to an event of the run; skips if there is none. */
async function acknowledgements(run: Run): Promise<readonly ApiResponse[]> {
  let reason = 'no event was accepted (END-01)';
  await run.traffic.sessions().catch((error: Error) => {
    reason = error.message;
  });
  const all = run.probe.responses.filter(
    (response) => response.endpoint === 'events.create' && succeeded(response),
  );
  return all.length > 0 ? all : skip(reason);
}

/** Creates a check of every acknowledgement of the run, which runs after the checks that send events. */
function everyAcknowledgement(
  requirement: string,
  name: string,
  fault: (response: ApiResponse, body: Readonly<Record<string, unknown>>) => string | undefined,
): Check {
  return lastWritingCheck(requirement, name, async (run) => {
    for (const response of await acknowledgements(run)) {
      if (!isObject(response.json)) return fail(`${describeResponse(response)}, which is not a JSON object`);
      const found = fault(response, response.json);
      if (found !== undefined) fail(found);
    }
  });
}

function receivedAtFault(
  { headers, requestBody }: ApiResponse,
  { receivedAt }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (typeof receivedAt !== 'string' || !millisecondsUtc.test(receivedAt))
    return `receivedAt is ${JSON.stringify(receivedAt)}, not ISO 8601 in UTC with milliseconds`;
  const dateMs = Date.parse(headers.get('date') ?? '');
  const [expectedMs, toleranceMs] = Number.isNaN(dateMs)
    ? [Date.now(), clockToleranceMs]
    : [dateMs, dateToleranceMs];
  if (!(Math.abs(Date.parse(receivedAt) - expectedMs) <= toleranceMs))
    return `receivedAt is ${receivedAt}, far from the time of the response`;
  const sentMs = Date.parse(isObject(requestBody) ? String(requestBody.sourceTimestamp) : '');
  const isEcho = Date.parse(receivedAt) === sentMs && expectedMs - sentMs > clearlyEarlierMs;
  return isEcho ? `receivedAt is the sourceTimestamp of the event, ${receivedAt}` : undefined;
}

/** Checks of sending events and of their acknowledgements. */
export const eventChecks: readonly Check[] = [
  lastWritingCheck('ING-01', 'every accepted event', async (run) => {
    for (const response of await acknowledgements(run)) expectStatus(response, 202);
  }),
  ...invalidBodies.map(([name, rawBody]) =>
    check('ING-02', name, async ({ traffic }) => {
      const response = await traffic.postText(rawBody);
      expectRefusal(response, 'it is not an event');
      expectEnvelope(response);
    }),
  ),
  check('ING-02', 'a rejected event is not recorded', async (run) => {
    const sessionId = run.newName('rejected');
    const valid = run.traffic.event({ sessionId });
    const invalid: ActivityEvent = run.traffic.event({ sessionId });
    const response = await run.traffic.post({ ...invalid, payload: 'text' });
    if (succeeded(response)) skip('an invalid event is accepted (EVT-07)');
    if (!succeeded(await run.traffic.post(valid))) skip('events are not accepted (END-01)');
    const session = { id: sessionId, agentId: valid.agentId, events: [valid] };
    const { document } = await run.traffic.detail(session);
    if (mentions(document, invalid.eventId))
      fail('an event that was rejected because of its payload is in its session');
  }),
  everyAcknowledgement('ACK-01', 'eventId', ({ requestBody }, { eventId }) => {
    const sent = isObject(requestBody) ? requestBody.eventId : undefined;
    if (typeof sent !== 'string') return undefined;
    const isSame = typeof eventId === 'string' && eventId.toLowerCase() === sent.toLowerCase();
    return isSame ? undefined : `eventId is ${JSON.stringify(eventId)}, not the one that was sent`;
  }),
  everyAcknowledgement('ACK-02', 'receivedAt', receivedAtFault),
  everyAcknowledgement('ACK-03', 'warnings', (_response, { warnings }) =>
    Array.isArray(warnings) ? undefined : `warnings is ${JSON.stringify(warnings)}, not an array`,
  ),
  lastWritingCheck('ACK-04', 'shape of warnings', async (run) => {
    const all = (await acknowledgements(run)).flatMap(({ json }) =>
      isObject(json) && Array.isArray(json.warnings) ? (json.warnings as unknown[]) : [],
    );
    const first = all.find(isObject);
    return first ? `objects with ${Object.keys(first).join(', ')}` : 'no warnings were returned';
  }),
];
