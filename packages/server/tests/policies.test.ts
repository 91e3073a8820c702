import { expect, test } from 'vitest';
import { testServer } from './test-server.ts';

test('creates a policy with defaults, reads, changes and archives it', async () => {
  const server = await testServer();
  const created = await server.policy({ name: 'No deletes', match: { tools: ['delete_*'] } });
  expect(created).toMatchObject({
    status: 'active',
    mode: 'enforce',
    effect: 'deny',
    priority: 0,
    condition: null,
    rate: null,
    approval: null,
    message: null,
    archivedAt: null,
    version: 1,
  });
  expect(await server.ok('policies.get', { id: created.id })).toEqual(created);
  const changed = await server.ok('policies.update', {
    id: created.id,
    body: { message: 'Ask first', match: { agents: ['billing*'] } },
  });
  expect(changed).toMatchObject({
    version: 2,
    message: 'Ask first',
    match: { agents: ['billing*'], tools: ['delete_*'] },
  });
  const cleared = await server.ok('policies.update', {
    id: created.id,
    body: { message: null, match: { agents: null } },
  });
  expect(cleared).toMatchObject({ message: null, version: 3 });
  expect(cleared.match).toEqual({ tools: ['delete_*'] });
  const archived = await server.ok('policies.archive', { id: created.id });
  expect(archived).toMatchObject({ status: 'archived', version: 4 });
  expect(archived.archivedAt).not.toBeNull();
  expect(await server.ok('policies.archive', { id: created.id })).toEqual(archived);
  expect(await server.ok('policies.get', { id: created.id })).toEqual(archived);
});

test('accepts a part of a rate or an approval if the merged policy is valid', async () => {
  const server = await testServer();
  const { id } = await server.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 60, onTimeout: 'deny' },
  });
  const error = await server.refused('policies.update', { id, body: { rate: { max: 3 } } });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(error.details?.map(({ path }) => path)).toEqual(['rate.windowSeconds', 'rate.per']);
  const rate = { max: 3, windowSeconds: 60, per: 'agent' } as const;
  await server.ok('policies.update', { id, body: { rate } });
  const changed = await server.ok('policies.update', {
    id,
    body: { rate: { max: 4 }, approval: { timeoutSeconds: 90 } },
  });
  expect(changed).toMatchObject({
    version: 3,
    rate: { ...rate, max: 4 },
    approval: { timeoutSeconds: 90, onTimeout: 'deny' },
  });
});

test('never changes or matches an archived policy', async () => {
  const server = await testServer();
  const { id } = await server.policy();
  expect((await server.check()).decision).toBe('deny');
  await server.ok('policies.archive', { id });
  const error = await server.refused('policies.update', { id, body: { name: 'x' } });
  expect(error).toMatchObject({ status: 409, code: 'POLICY_ARCHIVED' });
  expect(await server.check()).toMatchObject({ decision: 'allow', decidedBy: null, matched: [] });
});

test.each([
  ['a name that nobody knows', 'enviroment == "prod"', 'enviroment'],
  ['a field that is not there', 'action.tool == "x"', 'tool'],
  ['a type that does not fit', 'agent.id > 5', 'string'],
  ['what is no condition', '1 + 1', 'got int'],
  ['broken syntax', 'args.amount >', 'EOF'],
  ['a regular expression', 'action.toolName.matches("(a+)+$")', 'line 1, column'],
  ['a loop in a loop', 'args.a.all(x, args.b.exists(y, x == y))', 'another comprehension'],
  ['too many nodes', Array.from({ length: 150 }, () => 'true').join(' && '), 'Exceeded'],
  ['a depth beyond the bound', `${'('.repeat(300)}true${')'.repeat(300)}`, 'epth'],
])('refuses a condition with %s when it is written', async (_what, condition, hint) => {
  const server = await testServer();
  const error = await server.refused('policies.create', { body: { name: 'c', effect: 'deny', condition } });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ path: 'condition' }] });
  expect(error.message).toContain(hint);
});

test('validates a change like a new policy', async () => {
  const server = await testServer();
  const { id } = await server.policy();
  const error = await server.refused('policies.update', { id, body: { condition: 'nope' } });
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'condition' }] });
  const contradiction = await server.refused('policies.update', {
    id,
    body: { approval: { timeoutSeconds: 5, onTimeout: 'deny' } },
  });
  expect(contradiction).toMatchObject({ details: [{ path: 'approval', code: 'contradiction' }] });
  expect((await server.ok('policies.get', { id })).version).toBe(1);
});

test('refuses a misspelled field of a policy', async () => {
  const server = await testServer();
  const body = { name: 'x', effect: 'deny', match: { tool: ['*'] } };
  expect(await server.refused('policies.create', { body })).toMatchObject({
    details: [{ path: 'match.tool', code: 'unrecognized_key' }],
  });
});

test('lists policies newest first, by status', async () => {
  const server = await testServer();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift((await server.policy()).id);
  await server.ok('policies.archive', { id: ids[2] as string });
  const active = await server.ok('policies.list', { query: { status: 'active', limit: 3 } });
  const rest = await server.ok('policies.list', {
    query: { status: 'active', limit: 3, cursor: active.nextCursor as string },
  });
  const seen = [...active.items, ...rest.items].map(({ id }) => id);
  expect(seen).toEqual(ids.filter((_, index) => index !== 2));
  expect(rest.nextCursor).toBeNull();
});
