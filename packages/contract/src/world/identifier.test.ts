import { expect, it } from 'vitest';
import type { ApiResponse } from '../http/api-response.ts';
import { type IdentifiedKind, identifierCandidates, locationEnd, valueAt } from './identifier.ts';

function response(location: string): ApiResponse {
  const headers = new Headers({ location });
  return { method: 'POST', path: '/v1/agents', status: 200, headers, text: '', json: {} };
}

it.each<[string, IdentifiedKind, object, string]>([
  ['id', 'agents', { name: 'n', ownerId: 'o', id: '1' }, '1'],
  ['a name that ends in Id', 'agents', { name: 'n', agentId: '2' }, '2'],
  ['a nested record', 'agents', { created: { label: 'n', agent_id: '3' } }, '3'],
  ['a record two levels down', 'policies', { data: { policy: { policyUuid: '3' } } }, '3'],
  ['a number', 'agents', { label: 'n', number: 1004 }, '1004'],
  ['any other text', 'agents', { serial: '4' }, '4'],
  ['no name that was sent', 'agents', { agentId: 'sent-1', serial: 'x' }, 'x'],
  ['the reference, not the id of its agent', 'pendingActions', held(), 'R-1'],
  ['no time', 'agents', { at: '2026-01-01T00:00:00Z', serial: 'x' }, 'x'],
])('detects %s as an identifier', (_name, kind, json, expected) => {
  expect(identifierCandidates(kind, json, ['sent-'])[0]?.text).toBe(expected);
});

function held() {
  return { life_state: 'waiting', ref: 'R-1', proposal: { agentId: '1001', tool: 'sent-tool' } };
}

it('ignores what is no record', () => {
  expect(identifierCandidates('agents', [{ id: '1' }])).toEqual([]);
  expect(identifierCandidates('agents', { live: true, score: 1.5, none: null })).toEqual([]);
});

it('reads the end of Location', () => {
  expect(locationEnd(response('/v1/agents/a%20b'))).toEqual([{ text: 'a b', path: [] }]);
  expect(locationEnd(response('https://example.com/v1/agents/7/?full=1'))).toEqual([{ text: '7', path: [] }]);
  expect(locationEnd(response('/v1/agents/%zz'))).toEqual([]);
});

it('reads the value at a path', () => {
  expect(valueAt({ a: { b: 7 } }, ['a', 'b'])).toBe('7');
  expect(valueAt({ a: { b: null } }, ['a', 'b'])).toBeUndefined();
});
