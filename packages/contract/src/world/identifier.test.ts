import { expect, it } from 'vitest';
import type { Answer } from '../http/answer.ts';
import { identifierCandidates } from './identifier.ts';

function answer(json: unknown, headers: Record<string, string> = {}): Answer {
  return { method: 'POST', path: '/v1/agents', status: 200, headers: new Headers(headers), text: '', json };
}

it.each([
  ['id', { name: 'n', ownerId: 'o', id: '1' }, '1'],
  ['a name that ends in Id', { name: 'n', agentId: '2' }, '2'],
  ['a nested record', { created: { label: 'n', agent_id: '3' } }, '3'],
  ['any text, at last', { number: '4' }, '4'],
])('takes %s for an identifier', (_name, json, expected) => {
  expect(identifierCandidates(answer(json))[0]).toBe(expected);
});

it('takes the end of Location first, and nothing from what is no record', () => {
  expect(identifierCandidates(answer({ id: '1' }, { location: '/v1/agents/a%20b' }))[0]).toBe('a b');
  expect(identifierCandidates(answer([{ id: '1' }]))).toEqual([]);
  expect(identifierCandidates(answer({ id: '1' }, { location: '/v1/agents/%zz' }))).toEqual(['1']);
});
