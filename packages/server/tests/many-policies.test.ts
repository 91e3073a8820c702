import { expect, test, vi } from 'vitest';
import { type PolicySet, PolicySets } from '../src/policy/policy-set.ts';
import { SqliteConnection } from '../src/storage/sqlite/sqlite-connection.ts';
import { watchedStorages } from './storage-seam.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

/** Records the statements on in-memory databases from now on. */
function statementsFromNow(): () => string[] {
  const execute = vi.spyOn(SqliteConnection.prototype, 'execute');
  atTestEnd(async () => execute.mockRestore());
  return () => execute.mock.calls.map(([sql]) => sql);
}

/** Returns the policies of the policy set that was read last, by name. */
function lastAsked(): () => Promise<Map<string, PolicySet['policies'][number]>> {
  const of = vi.spyOn(PolicySets.prototype, 'of');
  atTestEnd(async () => of.mockRestore());
  return async () => {
    const set: PolicySet = await of.mock.results.at(-1)?.value;
    return new Map(set.policies.map((policy) => [policy.definition.name, policy]));
  };
}

test('counts several rates separately', async () => {
  const server = await testServer();
  const rate = (max: number, per: 'agent' | 'session' | 'tenant', windowSeconds: number) =>
    server.policy({ name: per, mode: 'log_only', rate: { max, windowSeconds, per } });
  await rate(1, 'session', 60);
  await rate(2, 'agent', 3600);
  await rate(3, 'tenant', 86_400);
  const names = new Map(
    (await server.ok('policies.list')).items.map(({ id, name }): [string, string] => [id, name]),
  );
  const exceeded = async (agentId: string, sessionId: string) =>
    (await server.check({ agentId, sessionId })).matched.map(({ policyId }) => names.get(policyId)).sort();
  expect(await exceeded('a', 'one')).toEqual([]);
  expect(await exceeded('a', 'one')).toEqual(['session']);
  expect(await exceeded('a', 'two')).toEqual(['agent']);
  expect(await exceeded('b', 'one')).toEqual(['session', 'tenant']);
  expect(await exceeded('b', 'three')).toEqual(['tenant']);
});

test.skipIf(onPostgres)('reads many rates in one statement and counts in one', async () => {
  const server = await testServer();
  for (const max of [5, 6, 7, 8]) await server.policy({ rate: { max, windowSeconds: 60, per: 'agent' } });
  const statements = statementsFromNow();
  expect((await server.check({ actionId: 'a' })).decision).toBe('allow');
  expect(statements().filter((sql) => sql.includes('policy_counts'))).toEqual([
    expect.stringMatching(/^select/),
    expect.stringMatching(/^insert/),
  ]);
});

test('compiles only the changed policy', async () => {
  const server = await testServer();
  const lastPolicies = lastAsked();
  await server.policy({ name: 'same', condition: 'has(args.amount)' });
  const { id } = await server.policy({ name: 'other', condition: 'has(args.to)' });
  expect((await server.check()).decision).toBe('allow');
  const before = await lastPolicies();
  await server.ok('policies.update', { id, body: { condition: '!has(args.to)' } });
  expect((await server.check()).decision).toBe('deny');
  const after = await lastPolicies();
  expect(after.get('same')?.rule).toBe(before.get('same')?.rule);
  expect(after.get('other')?.rule).not.toBe(before.get('other')?.rule);
});

test('evaluates the conditions of a waiting check once', async () => {
  const server = await testServer();
  const lastPolicies = lastAsked();
  await server.policy({ name: 'held', effect: 'require_approval', condition: 'agent.id == "billing-agent"' });
  await server.check({ agentId: 'another' });
  const condition = (await lastPolicies()).get('held')?.rule.condition;
  const holds = vi.spyOn(condition as NonNullable<typeof condition>, 'holds');
  const watched = watchedStorages();
  const response = server.check({ actionId: 'call-1' }, { prefer: 'wait=25' });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  const [held] = (await server.ok('guardian.pendingActions.list')).items;
  const id = held?.id as string;
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect((await response).decision).toBe('allow');
  expect(holds).toHaveBeenCalledTimes(1);
});
