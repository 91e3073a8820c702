import { randomUUID } from 'node:crypto';
import { type Check, check } from '../check.ts';
import { hashOf } from '../world/event.ts';
import { expectRefusal, expectSuccess } from './expectations.ts';

/** Expected result of an event with one field changed. */
type Expected = 'taken' | 'refused';

/** A field of an event, a value for it, and the expected result. */
type FieldCase = readonly [requirement: string, field: string, value: unknown, expected: Expected];

const uuidVersion7 = '018f3a5c-7d2e-7b1a-9c4d-0123456789ab';

const fieldCases: readonly FieldCase[] = [
  ['EVT-01', 'eventId', 'not-a-uuid', 'refused'],
  ['EVT-01', 'eventId', 42, 'refused'],
  ['EVT-02', 'agentId', 42, 'refused'],
  ['EVT-02', 'agentId', { id: 'a' }, 'refused'],
  ['EVT-03', 'sessionId', 42, 'refused'],
  ['EVT-03', 'sessionId', ['a'], 'refused'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05T10:20:30Z', 'taken'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05T10:20:30.123Z', 'taken'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05T10:20:30+02:00', 'refused'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05T10:20:30', 'refused'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05T10:20:30z', 'refused'],
  ['EVT-04', 'sourceTimestamp', '2026-01-05', 'refused'],
  ['EVT-04', 'sourceTimestamp', 'yesterday', 'refused'],
  ['EVT-04', 'sourceTimestamp', 1_767_608_430_000, 'refused'],
  ['EVT-05', 'category', 'tool_api', 'taken'],
  ['EVT-05', 'category', 42, 'refused'],
  ['EVT-06', 'schemaVersion', '1.0', 'taken'],
  ['EVT-06', 'schemaVersion', 1, 'refused'],
  ['EVT-07', 'payload', 'text', 'refused'],
  ['EVT-07', 'payload', [], 'refused'],
  ['EVT-08', 'payload.toolName', 42, 'refused'],
  ['EVT-09', 'payload.argumentsHash', 42, 'refused'],
  ['EVT-10', 'payload.responseStatus', 404, 'taken'],
  ['EVT-10', 'payload.responseStatus', '200', 'refused'],
  ['EVT-10', 'payload.responseStatus', 200.5, 'refused'],
];

/** Returns an event with one field changed. */
function withField(event: object, field: string, value: unknown): object {
  const [name, part] = field.split('.') as [string, string?];
  if (part === undefined) return { ...event, [name]: value };
  return { ...event, [name]: { ...(event as Record<string, object>)[name], [part]: value } };
}

const ofCases = fieldCases.map(([requirement, field, value, expected]) =>
  check(requirement, `${field} ${JSON.stringify(value)} is ${expected}`, async ({ traffic }) => {
    const response = await traffic.post(withField(traffic.event(), field, value));
    if (expected === 'taken') return expectSuccess(response);
    expectRefusal(response, `${field} must not be ${JSON.stringify(value)}`);
  }),
);

/** Checks of event fields. */
export const eventFieldChecks: readonly Check[] = [
  ...ofCases,
  ...[4, 7].map((version) =>
    check('EVT-01', `a UUID of version ${version} is taken`, async ({ traffic }) => {
      const eventId = version === 4 ? randomUUID() : uuidVersion7.slice(0, -12) + randomUUID().slice(-12);
      const payload = { toolName: 'contract_probe', argumentsHash: hashOf(eventId), responseStatus: 200 };
      expectSuccess(await traffic.post(traffic.event({ eventId, payload })));
    }),
  ),
  ...['agentId', 'sessionId'].map((field, index) =>
    check(`EVT-0${index + 2}`, `${field} is taken as a string`, async (run) => {
      expectSuccess(await run.traffic.post(run.traffic.event({ [field]: run.newName('string') })));
    }),
  ),
  check('EVT-07', 'payload is taken as an object', async ({ traffic }) => {
    expectSuccess(await traffic.post(traffic.event()));
  }),
  ...['toolName', 'argumentsHash'].map((field, index) =>
    check(
      `EVT-${index === 0 ? '08' : '09'}`,
      `payload.${field} is taken as a string`,
      async ({ traffic }) => {
        expectSuccess(await traffic.post(withField(traffic.event(), `payload.${field}`, 'sha256:aa')));
      },
    ),
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
