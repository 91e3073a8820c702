import { expect, test } from 'vitest';
import { judge } from './send-result.ts';

const envelope = '{"error":{"code":"VALIDATION_ERROR","message":"bad toolName"}}';

test.each<[number, string]>([
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
  [431, 'misconfigured'],
  [500, 'fault'],
  [501, 'fault'],
  [502, 'outage'],
  [503, 'outage'],
  [504, 'outage'],
])('classifies %i as %s', (status, kind) => {
  expect(judge({ status, body: envelope }).kind).toBe(kind);
});

test.each<[string, number, string | undefined]>([
  ['a web page', 200, '<html>'],
  ['a page that is JSON', 200, '{"status":"ok"}'],
  ['null', 201, 'null'],
  ['no body', 204, undefined],
])('does not count %s as delivered', (_name, status, body) => {
  const reason = `HTTP ${status} without an acknowledgement`;
  expect(judge({ status, body })).toEqual({ kind: 'misconfigured', reason });
});

test('tells a rejected agent from a rejected key', () => {
  const error = { code: 'PERMISSION_DENIED', message: 'no', details: [{ path: 'agentId', code: 'no' }] };
  expect(judge({ status: 403, body: JSON.stringify({ error }) }).kind).toBe('other-agent');
  expect(judge({ status: 403, body: JSON.stringify({ error: { code: error.code } }) }).kind).toBe(
    'misconfigured',
  );
});

test('accepts an acknowledgement with another 2xx status', () => {
  expect(judge({ status: 200, body: '{"eventId":"1","receivedAt":"2026-01-01T00:00:00.000Z"}' }).kind).toBe(
    'delivered',
  );
});

test.each<[string, string, string]>([
  ['the envelope', envelope, 'HTTP 400: VALIDATION_ERROR: bad toolName'],
  [
    'a message that is a sentence',
    '{"error":{"code":"VALIDATION_ERROR","message":"It is bad."}}',
    'HTTP 400: VALIDATION_ERROR: It is bad',
  ],
])('reads the reason from %s', (_name, body, reason) => {
  expect(judge({ status: 400, body })).toEqual({ kind: 'refused', reason });
});

test.each<[string, string | undefined]>([
  ['a page of a proxy', '<html>'],
  ['JSON that is no envelope', '[1]'],
  ['null', 'null'],
  ['nothing', undefined],
  ['an envelope of numbers', '{"error":{"code":1,"message":2}}'],
])('does not reject an event for %s, except for its size', (_name, body) => {
  for (const status of [400, 409, 418, 422]) {
    expect(judge({ status, body })).toEqual({ kind: 'fault', reason: `HTTP ${status}` });
  }
  expect(judge({ status: 413, body })).toEqual({ kind: 'refused', reason: 'HTTP 413' });
});

test('rejects an event for a truncated envelope', () => {
  const details = Array.from({ length: 200 }, (_, index) => ({ path: `payload.${index}`, code: 'invalid' }));
  const error = { code: 'VALIDATION_ERROR', message: 'bad payload', details };
  const body = JSON.stringify({ error }, null, 2).slice(0, 1000);
  expect(judge({ status: 400, body })).toEqual({ kind: 'refused', reason: 'HTTP 400: VALIDATION_ERROR' });
});

test('reports a failure without a status by its code, never its text', () => {
  const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1'), { code: 'ECONNREFUSED' });
  expect(judge({ error })).toEqual({ kind: 'outage', reason: 'ECONNREFUSED' });
  expect(judge({ error: new TypeError('x') })).toEqual({ kind: 'outage', reason: 'TypeError' });
  const fetchFailed = new TypeError('fetch failed', { cause: new AggregateError([error]) });
  expect(judge({ error: fetchFailed })).toEqual({ kind: 'outage', reason: 'ECONNREFUSED' });
  const circle: Error = new TypeError('x');
  circle.cause = circle;
  expect(judge({ error: circle })).toEqual({ kind: 'outage', reason: 'TypeError' });
});
