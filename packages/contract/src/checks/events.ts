import { randomUUID } from 'node:crypto';
import type { ActivityEvent } from '@actlog/protocol';
import { type Check, check, lastWritingCheck } from '../check.ts';
import { type ApiResponse, describeResponse, isObject, mentions, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { hashOf } from '../world/event-record.ts';
import { expectEnvelope, expectRefusal, expectStatus } from './expectations.ts';

/** Expected result of an event with one field changed. */
type Expected = 'taken' | 'refused';

/** A field of an event, a value for it, and the expected result. */
type FieldCase = readonly [requirement: string, field: string, value: unknown, expected: Expected];

/** A form of `sourceTimestamp`, made from a recent time: a deployment may refuse old ones. */
type TimeCase = readonly [form: string, of: (recent: Date) => unknown, expected: Expected];

const uuidVersion7 = '018f3a5c-7d2e-7b1a-9c4d-0123456789ab';

const fieldCases: readonly FieldCase[] = [
  ['EVT-01', 'eventId', 'not-a-uuid', 'refused'],
  ['EVT-01', 'eventId', 42, 'refused'],
  ['EVT-02', 'agentId', 42, 'refused'],
  ['EVT-02', 'agentId', { id: 'a' }, 'refused'],
  ['EVT-03', 'sessionId', 42, 'refused'],
  ['EVT-03', 'sessionId', ['a'], 'refused'],
  ['EVT-05', 'category', 'tool_api', 'taken'],
  ['EVT-05', 'category', 42, 'refused'],
  ['EVT-06', 'schemaVersion', '1.0', 'taken'],
  ['EVT-06', 'schemaVersion', 1, 'refused'],
  ['EVT-07', 'payload', 'text', 'refused'],
  ['EVT-07', 'payload', [], 'refused'],
  ['EVT-08', 'payload.toolName', 42, 'refused'],
  ['EVT-08', 'payload.toolName', 'Größe.北京.🙂', 'taken'],
  ['EVT-09', 'payload.argumentsHash', 42, 'refused'],
  ['EVT-10', 'payload.responseStatus', 404, 'taken'],
  ['EVT-10', 'payload.responseStatus', '200', 'refused'],
  ['EVT-10', 'payload.responseStatus', 200.5, 'refused'],
];

/** Fields with a type that a boolean never has. Null is valid only where the field may be omitted. */
const typedFields: readonly (readonly [requirement: string, field: string])[] = [
  ['EVT-01', 'eventId'],
  ['EVT-02', 'agentId'],
  ['EVT-03', 'sessionId'],
  ['EVT-04', 'sourceTimestamp'],
  ['EVT-05', 'category'],
  ['EVT-06', 'schemaVersion'],
  ['EVT-07', 'payload'],
  ['EVT-08', 'payload.toolName'],
  ['EVT-09', 'payload.argumentsHash'],
  ['EVT-10', 'payload.responseStatus'],
];

/** Returns the date and time without fraction and zone. */
function seconds(time: Date): string {
  return time.toISOString().slice(0, 19);
}

const timeCases: readonly TimeCase[] = [
  ['without a fraction', (time) => `${seconds(time)}Z`, 'taken'],
  ['with milliseconds', (time) => `${seconds(time)}.123Z`, 'taken'],
  ['with an offset', (time) => `${seconds(new Date(time.getTime() + 2 * 3_600_000))}+02:00`, 'refused'],
  ['without a zone', seconds, 'refused'],
  ['with a lower-case z', (time) => `${seconds(time)}z`, 'refused'],
  ['on February 30', (time) => `${time.getUTCFullYear()}-02-30T10:00:00Z`, 'refused'],
  ['in the 13th month', (time) => `${time.getUTCFullYear()}-13-01T10:00:00Z`, 'refused'],
  ['at 25 hours', (time) => `${seconds(time).slice(0, 10)}T25:00:00Z`, 'refused'],
  ['at 61 minutes', (time) => `${seconds(time).slice(0, 13)}:61:00Z`, 'refused'],
  ['as a date', (time) => seconds(time).slice(0, 10), 'refused'],
  ['as a word', () => 'yesterday', 'refused'],
  ['as a number', (time) => time.getTime(), 'refused'],
];

/** Returns a time that every deployment takes for recent. */
function recentTime(): Date {
  return new Date(Date.now() - 60_000);
}

/** Returns an event with one field changed. */
function withField(event: object, field: string, value: unknown): object {
  const [name, part] = field.split('.') as [string, string?];
  if (part === undefined) return { ...event, [name]: value };
  return { ...event, [name]: { ...(event as Record<string, object>)[name], [part]: value } };
}

const ofCases = fieldCases.map(([requirement, field, value, expected]) =>
  check(requirement, `${field} ${JSON.stringify(value)} is ${expected}`, async ({ traffic }) => {
    const response = await traffic.post(withField(traffic.event(), field, value));
    if (expected === 'taken') return traffic.expectTaken(response);
    expectRefusal(response, `${field} must not be ${JSON.stringify(value)}`);
  }),
);

/** Checks of event fields. */
export const eventFieldChecks: readonly Check[] = [
  ...ofCases,
  ...typedFields.flatMap(([requirement, field]) => [
    check(requirement, `${field} true is refused`, async ({ traffic }) => {
      const response = await traffic.post(withField(traffic.event(), field, true));
      expectRefusal(response, `${field} must not be true`);
    }),
    check(requirement, `${field} null is refused, unless it may be left out`, async ({ traffic }) => {
      const response = await traffic.post(withField(traffic.event(), field, null));
      if (!succeeded(response)) return;
      const without = await traffic.post(withField(traffic.event(), field, undefined));
      if (!succeeded(without)) expectRefusal(response, `${field} must not be null, and may not be left out`);
    }),
  ]),
  ...timeCases.map(([form, of, expected]) =>
    check('EVT-04', `sourceTimestamp ${form} is ${expected}`, async ({ traffic }) => {
      const value = of(recentTime());
      const response = await traffic.post(withField(traffic.event(), 'sourceTimestamp', value));
      if (expected === 'taken') return traffic.expectTaken(response);
      expectRefusal(response, `sourceTimestamp must not be ${JSON.stringify(value)}`);
    }),
  ),
  ...[4, 7].map((version) =>
    check('EVT-01', `a UUID of version ${version} is taken`, async ({ traffic }) => {
      const eventId = version === 4 ? randomUUID() : uuidVersion7.slice(0, -12) + randomUUID().slice(-12);
      const payload = { toolName: 'contract_probe', argumentsHash: hashOf(eventId), responseStatus: 200 };
      await traffic.expectTaken(await traffic.post(traffic.event({ eventId, payload })));
    }),
  ),
  check('EVT-02', 'agentId is taken as a string', async ({ traffic }) => {
    await traffic.expectTaken(await traffic.post(traffic.event({ agentId: traffic.probeAgentId })));
  }),
  check('EVT-03', 'sessionId is taken as a string', async (run) => {
    await run.traffic.expectTaken(
      await run.traffic.post(run.traffic.event({ sessionId: run.newName('string') })),
    );
  }),
  check('EVT-07', 'payload is taken as an object', async ({ traffic }) => {
    await traffic.expectTaken(await traffic.post(traffic.event()));
  }),
  ...(
    [
      ['EVT-08', 'toolName', 'contract_other'],
      ['EVT-09', 'argumentsHash', hashOf('contract')],
    ] as const
  ).map(([requirement, field, value]) =>
    check(requirement, `payload.${field} is taken as a string`, async ({ traffic }) => {
      await traffic.expectTaken(await traffic.post(withField(traffic.event(), `payload.${field}`, value)));
    }),
  ),
  check('EVT-14', 'other categories', async ({ traffic }) => {
    const seen: string[] = [];
    for (const category of ['llm_call', 'agent_message', 'contract_unknown']) {
      const { status } = await traffic.post(traffic.event({ category, payload: {} }));
      seen.push(`${category}: ${status}`);
    }
    return seen.join(', ');
  }),
  check('EVT-15', 'fields left out', async ({ traffic }) => {
    const seen: string[] = [];
    for (const field of Object.keys(traffic.event())) {
      const { status } = await traffic.post({ ...traffic.event(), [field]: undefined });
      seen.push(`without ${field}: ${status}`);
    }
    return seen.join(', ');
  }),
];

/** ISO 8601 in UTC with milliseconds. */
const millisecondsUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]00:00)$/;

/** Maximum difference between `receivedAt` and the `Date` of the response, in milliseconds. */
const dateToleranceMs = 10 * 60_000;

/** Maximum difference between the deployment's clock and ours, for a response without `Date`, in milliseconds. */
const clockToleranceMs = 24 * 3_600_000;

/** Age of an event that cannot have been received at the time of its source, in milliseconds. */
const clearlyEarlierMs = 30_000;

/** Bodies that are not events. */
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
