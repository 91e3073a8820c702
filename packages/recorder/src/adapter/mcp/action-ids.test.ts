import { expect, test } from 'vitest';
import { keepActionId, takeActionId } from './unrepeated-calls.ts';

const first = { name: 'pay', arguments: { amount: 5 } };
const again = { ...first, inputResponses: {} };
const caller = { agentId: 'app', sessionId: 'a' };

test('returns the action id for the continued request, once', () => {
  keepActionId(caller, first, 'action-1');
  expect(takeActionId(caller, first)).toBeUndefined();
  expect(takeActionId(caller, { ...again, arguments: { amount: 6 } })).toBeUndefined();
  expect(takeActionId({ ...caller, sessionId: 'b' }, again)).toBeUndefined();
  expect(takeActionId({ ...caller, agentId: 'other' }, again)).toBeUndefined();
  expect(takeActionId(caller, again)).toBe('action-1');
  expect(takeActionId(caller, again)).toBeUndefined();
});

test('returns separate action ids for two equal calls', () => {
  keepActionId(caller, first, 'action-1');
  keepActionId(caller, first, 'action-2');
  const ids = [takeActionId(caller, again), takeActionId(caller, { ...first, requestState: 'x' })];
  expect(ids.sort()).toEqual(['action-1', 'action-2']);
});

test('forgets the oldest of many, and ignores calls that are not JSON-serializable', () => {
  for (let n = 0; n <= 1000; n += 1) keepActionId(caller, { name: `tool-${n}` }, `action-${n}`);
  expect(takeActionId(caller, { name: 'tool-0', requestState: 'x' })).toBeUndefined();
  expect(takeActionId(caller, { name: 'tool-1', requestState: 'x' })).toBe('action-1');
  const circular: Record<string, unknown> = {};
  circular.parent = circular;
  const unusual = { name: 'big', arguments: circular };
  keepActionId(caller, unusual, 'action');
  expect(takeActionId(caller, { ...unusual, requestState: 'x' })).toBeUndefined();
});
