import { expect, test, vi } from 'vitest';
import { type PolicySet, PolicySets } from '../src/policy/policy-set.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

/** The policies of the set that was asked last, by their names. */
function lastAsked(): () => Promise<Map<string, PolicySet['policies'][number]>> {
  const of = vi.spyOn(PolicySets.prototype, 'of');
  atTestEnd(async () => of.mockRestore());
  return async () => {
    const set: PolicySet = await of.mock.results.at(-1)?.value;
    return new Map(set.policies.map((policy) => [policy.definition.name, policy]));
  };
}

test('a change of one policy has that one compiled, and no other', async () => {
  const server = await testServer();
  const asked = lastAsked();
  await server.policy({ name: 'same', condition: 'has(args.amount)' });
  const { id } = await server.policy({ name: 'other', condition: 'has(args.to)' });
  expect((await server.check()).decision).toBe('allow');
  const before = await asked();
  await server.ok('policies.update', { id, body: { condition: '!has(args.to)' } });
  expect((await server.check()).decision).toBe('deny');
  const after = await asked();
  expect(after.get('same')).toBe(before.get('same'));
  expect(after.get('other')).not.toBe(before.get('other'));
});
