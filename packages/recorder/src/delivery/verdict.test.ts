import { expect, test } from 'vitest';
import { judge } from './verdict.ts';

test.each<[number, string]>([
  [200, 'delivered'],
  [202, 'delivered'],
  [302, 'misconfigured'],
  [400, 'refused'],
  [401, 'misconfigured'],
  [403, 'misconfigured'],
  [404, 'misconfigured'],
  [408, 'outage'],
  [409, 'refused'],
  [413, 'refused'],
  [422, 'refused'],
  [429, 'throttled'],
  [500, 'fault'],
  [501, 'fault'],
  [502, 'outage'],
  [503, 'outage'],
  [504, 'outage'],
])('%i is %s', (status, kind) => {
  expect(judge({ status }).kind).toBe(kind);
});

test.each<[string, string | undefined, string]>([
  [
    'the envelope',
    '{"error":{"code":"VALIDATION_ERROR","message":"bad toolName"}}',
    'HTTP 400: VALIDATION_ERROR: bad toolName',
  ],
  [
    'a message that is a sentence',
    '{"error":{"code":"VALIDATION_ERROR","message":"It is bad."}}',
    'HTTP 400: VALIDATION_ERROR: It is bad',
  ],
  ['a page of a proxy', '<html>', 'HTTP 400'],
  ['JSON that is no envelope', '[1]', 'HTTP 400'],
  ['null', 'null', 'HTTP 400'],
  ['nothing', undefined, 'HTTP 400'],
  ['an envelope of numbers', '{"error":{"code":1,"message":2}}', 'HTTP 400'],
])('the reason is read from %s', (_name, body, reason) => {
  expect(judge({ status: 400, body })).toEqual({ kind: 'refused', reason });
});

test('a failure without a status is told by its code, never by its text', () => {
  const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1'), { code: 'ECONNREFUSED' });
  expect(judge({ error })).toEqual({ kind: 'outage', reason: 'ECONNREFUSED' });
  expect(judge({ error: new TypeError('x') })).toEqual({ kind: 'outage', reason: 'TypeError' });
  const fetchFailed = new TypeError('fetch failed', { cause: new AggregateError([error]) });
  expect(judge({ error: fetchFailed })).toEqual({ kind: 'outage', reason: 'ECONNREFUSED' });
  const circle: Error = new TypeError('x');
  circle.cause = circle;
  expect(judge({ error: circle })).toEqual({ kind: 'outage', reason: 'TypeError' });
});
