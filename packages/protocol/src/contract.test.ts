import { expect, test } from 'vitest';
import type * as z from 'zod';
import { contract } from './contract.ts';
import { argumentOriginsCategory } from './limits.ts';
import { argumentOriginsPayload } from './schemas/argument-origin.ts';

const event = {
  eventId: '0192f0c4-7f2a-7c3e-8a52-5a0b6f1d2e3c',
  agentId: 'billing-agent',
  sessionId: 'thread-1',
  sourceTimestamp: '2026-11-21T10:00:00.000Z',
  category: 'tool_api',
  schemaVersion: '1.0',
  payload: { toolName: 'refund', argumentsHash: 'sha256:ab', responseStatus: 200 },
};

function problems(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`);
}

test('accepts an event as defined by the specification', () => {
  expect(problems(contract['events.create'].body, event)).toEqual([]);
});

test.each([
  ['an id that is not a UUID', { eventId: 'e1' }, 'eventId: invalid_format'],
  [
    'a time with an offset',
    { sourceTimestamp: '2026-11-21T10:00:00+01:00' },
    'sourceTimestamp: invalid_format',
  ],
  [
    'a time with a lowercase z',
    { sourceTimestamp: '2026-11-21T10:00:00z' },
    'sourceTimestamp: invalid_format',
  ],
  [
    'a day that does not exist',
    { sourceTimestamp: '2026-02-30T10:00:00Z' },
    'sourceTimestamp: invalid_format',
  ],
  ['an empty agent', { agentId: '' }, 'agentId: too_small'],
  ['an agent with a line break', { agentId: 'a\nb' }, 'agentId: invalid_format'],
  ['a lone surrogate', { sessionId: '\ud800' }, 'sessionId: invalid_format'],
  [
    'a time of 200,000 characters',
    { sourceTimestamp: `2026-11-21T10:00:00.${'0'.repeat(200_000)}Z` },
    'sourceTimestamp: too_big',
  ],
  ['the agent .', { agentId: '.' }, 'agentId: custom'],
  ['the session ..', { sessionId: '..' }, 'sessionId: custom'],
  ['an unknown field', { agentid: 'a' }, ': unrecognized_keys'],
])('rejects an event with %s and names the field', (_what, change, problem) => {
  expect(problems(contract['events.create'].body, { ...event, ...change })).toContain(problem);
});

test.each([
  ['no status', { toolName: 'refund', argumentsHash: 'h' }, 'payload.responseStatus: invalid_type'],
  [
    'a fractional status',
    { toolName: 't', argumentsHash: 'h', responseStatus: 1.5 },
    'payload.responseStatus: invalid_type',
  ],
  ['its arguments', { ...event.payload, arguments: { amount: 5 } }, 'payload: unrecognized_keys'],
])('rejects a tool call with %s', (_what, payload, problem) => {
  expect(problems(contract['events.create'].body, { ...event, payload })).toContain(problem);
});

test('keeps the payload of other categories unchanged', () => {
  const note = { ...event, category: 'agent_message', payload: { toAgentId: 'b', more: { of: ['it'] } } };
  expect(contract['events.create'].body.parse(note).payload).toEqual(note.payload);
});

test('parses query strings into typed values and rejects malformed numbers', () => {
  expect(contract['sessions.list'].query.parse({ limit: '200', minRiskScore: '62.5' })).toEqual({
    limit: 200,
    minRiskScore: 62.5,
  });
  expect(contract['agents.list'].query.parse({ registered: 'false' })).toEqual({ registered: false });
  for (const minRiskScore of [0, 100, 92.2 + 0.01, 1e-7, 1 / 3, 0.000001234567890123456]) {
    const query = { minRiskScore: String(minRiskScore) };
    expect(contract['sessions.list'].query.parse(query)).toEqual({ minRiskScore });
  }
  for (const minRiskScore of ['-1', '100.1', '', '1e2', '.5', '0x10', 'NaN', 'Infinity']) {
    expect(problems(contract['sessions.list'].query, { minRiskScore })).not.toEqual([]);
  }
  for (const limit of ['0', '201', '1.5', '', '-1', '1e2', '0x10', ' 5']) {
    expect(problems(contract['sessions.list'].query, { limit })).not.toEqual([]);
  }
  const below = contract['sessions.list'].query.safeParse({ limit: '-1', minRiskScore: '-1' });
  expect(below.error?.issues.map(({ message }) => message)).toEqual([
    'must be a whole number from 1 to 200',
    'must be a number from 0 to 100',
  ]);
});

test('accepts a response without profile fields, keeps unknown fields and requires the fixed ones', () => {
  const { accepted, fixed, sent } = contract['agents.get'].response;
  const foreign = { id: 'a-1', color: 'blue' };
  expect(accepted.parse(foreign)).toEqual(foreign);
  expect(problems(fixed, {})).toEqual(['id: invalid_type']);
  expect(problems(sent, foreign)).toContain('name: invalid_type');
});

test('requires every field of an acknowledgement that the specification fixes', () => {
  const { accepted } = contract['events.create'].response;
  expect(problems(accepted, { eventId: event.eventId, receivedAt: '2026-11-21T10:00:00.000Z' })).toEqual([
    'warnings: invalid_type',
  ]);
});

test.each(['.', '..'])('rejects the agent or session id %s, which a URL path cannot contain', (id) => {
  expect(problems(contract['agents.create'].body, { name: 'a', id })).toEqual(['id: custom']);
  const action = { toolName: 'refund', argumentsHash: 'h' };
  const check = { agentId: id, sessionId: id, action };
  expect(problems(contract['policies.check'].body, check)).toEqual(['agentId: custom', 'sessionId: custom']);
  expect(problems(contract['agents.create'].body, { name: 'a', id: `${id}a` })).toEqual([]);
});

const origin = { from: 'tool', as: 'text', toolName: 'read_file', eventId: event.eventId };
const check = (origins: unknown) => ({
  agentId: 'a',
  action: { toolName: 'refund', argumentsHash: 'h', origins },
});

test.each([
  [undefined],
  [{}],
  [{ to: { from: 'user' } }],
  [{ to: origin, 'address.city': { from: 'tool' }, note: { from: 'unknown' } }],
])('accepts a check with the argument origins %j', (origins) => {
  expect(problems(contract['policies.check'].body, check(origins))).toEqual([]);
});

test.each([
  ['an unknown source', { to: { from: 'web' } }, 'action.origins.to.from: invalid_value'],
  ['no source', { to: {} }, 'action.origins.to.from: invalid_value'],
  ['a form without a tool', { to: { from: 'user', as: 'text' } }, 'action.origins.to.as: custom'],
  [
    'a tool without being from one',
    { to: { ...origin, from: 'model' } },
    'action.origins.to.toolName: custom',
  ],
  ['a value', { to: { from: 'user', value: 'x' } }, 'action.origins.to: unrecognized_keys'],
  ['an empty path', { '': { from: 'user' } }, 'action.origins.: invalid_key'],
  [
    '65 paths',
    Object.fromEntries(Array.from({ length: 65 }, (_, index) => [index, { from: 'user' }])),
    'action.origins: custom',
  ],
  ['a list', [], 'action.origins: invalid_type'],
])('rejects argument origins with %s and names the field', (_what, origins, problem) => {
  expect(problems(contract['policies.check'].body, check(origins))).toContain(problem);
});

test('accepts the payload of an event of argument origins, and its event with any payload', () => {
  const payload = { eventId: event.eventId, toolName: 'refund', origins: { to: origin } };
  expect(problems(argumentOriginsPayload, payload)).toEqual([]);
  expect(problems(argumentOriginsPayload, { ...payload, value: 'x' })).toEqual([': unrecognized_keys']);
  for (const sent of [payload, { any: 1 }]) {
    const reported = { ...event, category: argumentOriginsCategory, payload: sent };
    expect(contract['events.create'].body.parse(reported).payload).toEqual(sent);
  }
});

test('keeps fields of a returned origin that are not known yet', () => {
  const action = { toolName: 'refund', argumentsHash: 'h', origins: { to: { ...origin, depth: 2 } } };
  expect(
    contract['guardian.pendingActions.list'].item?.accepted.parse({ id: 'pac_1', action }).action,
  ).toEqual(action);
});
