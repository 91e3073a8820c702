import { beforeEach, expect, test } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { testServer } from '../test-server.ts';
import { idOf, type ShownKey, TestConsole } from './test-console.ts';

let owner: TestConsole;

const idsOf = (keys: readonly ShownKey[]) => keys.map(({ id }) => id);

beforeEach(async () => {
  owner = new TestConsole(await testServer());
});

test.each([
  ['nothing', undefined, ''],
  ['null', null, ''],
  ['no name', {}, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of two lines', { name: 'line\nbreak' }, 'name'],
  ['a name with a lone surrogate', '{"name":"\\ud800"}', 'name'],
  ['a name without end', { name: 'x'.repeat(201) }, 'name'],
  ['another kind', { name: 'a', kind: 'prod' }, 'kind'],
  ['another scope', { name: 'a', scopes: ['read', 'admin'] }, 'scopes.1'],
  ['no scope', { name: 'a', scopes: [] }, 'scopes'],
  ['an end that is past', { name: 'a', expiresInDays: 0 }, 'expiresInDays'],
  ['an end beyond a hundred years', { name: 'a', expiresInDays: 36_501 }, 'expiresInDays'],
  ['an end that is a text', { name: 'a', expiresInDays: '5' }, 'expiresInDays'],
  ['an end beyond all numbers', '{"name":"a","expiresInDays":1e999}', ''],
  ['an unknown field', { name: 'a', tenant: 'rival' }, 'tenant'],
  ['a key of its own', { name: 'a', key: newApiKey('live') }, 'key'],
])('creates no key from %s', async (_what, body, path) => {
  const before = await owner.keys();
  const error = await owner.refused('POST', 'keys', body);
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ path }] });
  expect(idsOf(await owner.keys())).toEqual(idsOf(before));
});

test.each([
  [{ overlapDays: -1 }, 'overlapDays'],
  [{ overlapDays: 7.01 }, 'overlapDays'],
  [{ overlapDays: null }, 'overlapDays'],
  [{ overlapdays: 1 }, 'overlapdays'],
  [null, ''],
  [[], ''],
])('does not rotate a key by %j', async (body, path) => {
  const id = idOf(owner.server.apiKey);
  const before = await owner.keys();
  const error = await owner.refused('POST', `keys/${id}/rotate`, body);
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ path }] });
  expect(idsOf(await owner.keys())).toEqual(idsOf(before));
});

test.each([[{ now: true }], [null], [[]], ['{']])('does not revoke a key by %j', async (body) => {
  const id = idOf(owner.server.apiKey);
  expect(await owner.refused('POST', `keys/${id}/revoke`, body)).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
  });
  await owner.keys();
});

test('refuses an invalid session id', async () => {
  expect(await owner.refused('POST', 'sessions/a%00b/learn')).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ path: 'params.id' }],
  });
});
