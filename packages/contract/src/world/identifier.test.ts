import { expect, it } from 'vitest';
import type { ApiResponse } from '../http/api-response.ts';
import { identifierCandidates } from './identifier.ts';

function response(json: unknown, headers: Record<string, string> = {}): ApiResponse {
  return { method: 'POST', path: '/v1/agents', status: 200, headers: new Headers(headers), text: '', json };
}

it.each([
  ['id', { name: 'n', ownerId: 'o', id: '1' }, '1'],
  ['a name that ends in Id', { name: 'n', agentId: '2' }, '2'],
  ['a nested record', { created: { label: 'n', agent_id: '3' } }, '3'],
  ['any other string', { number: '4' }, '4'],
])('detects %s as an identifier', (_name, json, expected) => {
  expect(identifierCandidates(response(json))[0]).toBe(expected);
});

it('prefers the end of Location, and ignores non-records', () => {
  expect(identifierCandidates(response({ id: '1' }, { location: '/v1/agents/a%20b' }))[0]).toBe('a b');
  expect(identifierCandidates(response([{ id: '1' }]))).toEqual([]);
  expect(identifierCandidates(response({ id: '1' }, { location: '/v1/agents/%zz' }))).toEqual(['1']);
});
