import { expect, it } from 'vitest';
import { isKnownEvent, isToolCall } from './known-event.ts';

const call = { toolName: 'search', argumentsHash: 'sha256:00', responseStatus: 200 };

it.each<[string, unknown, boolean]>([
  ['a tool call', { category: 'tool_api', payload: call }, true],
  ['further fields', { category: 'tool_api', payload: { ...call, region: 'eu' }, shard: 3 }, true],
  [
    'a tool call without a hash',
    { category: 'tool_api', payload: { toolName: 'search', responseStatus: 200 } },
    false,
  ],
  ['a status as text', { category: 'tool_api', payload: { ...call, responseStatus: '200' } }, false],
  ['another category', { category: 'note', payload: call }, false],
  ['no payload', { category: 'tool_api' }, false],
  ['null', null, false],
])('recognizes a tool call: %s', (_name, value, isCall) => {
  expect(isToolCall(value)).toBe(isCall);
});

it.each<[string, object, boolean]>([
  ['llm_call', { model: 'm', promptHash: 'h', responseStatus: 200 }, true],
  ['memory_write', { key: 'k', contentHash: 'h' }, true],
  ['agent_message', { toAgentId: 'a', contentHash: 'h' }, true],
  ['argument_origins', { eventId: 'e', toolName: 't', origins: {} }, true],
  ['argument_origins', { eventId: 'e', toolName: 't', origins: null }, false],
  ['guardian_decision', { toolName: 't', argumentsHash: 'h', decision: 'deny', policyId: 'p' }, true],
  ['llm_call', { model: 'm' }, false],
  ['note', { text: 'x' }, false],
  ['constructor', {}, false],
])('recognizes an event of the category %s with %j', (category, payload, isKnown) => {
  const event: unknown = { category, payload };
  expect(isKnownEvent(event)).toBe(isKnown);
});
