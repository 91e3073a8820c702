import { policyDefinition } from '@actlog/policy';
import { mergePatch, type PolicyCreate } from '@actlog/protocol';
import { policyCreate, policyUpdate } from '@actlog/protocol/schemas';
import { expect, it } from 'vitest';
import { policyDifference } from './policy-plan.ts';

const policies: PolicyCreate[] = [
  { name: 'a', effect: 'deny' },
  { name: 'a', effect: 'deny', mode: 'log_only', priority: 3, description: 'text', message: 'text' },
  { name: 'a', effect: 'deny', match: { tools: ['x', 'y'], agents: ['z'] } },
  { name: 'a', effect: 'deny', match: { tools: ['x'] }, condition: 'true' },
  { name: 'a', effect: 'deny', rate: { max: 1, windowSeconds: 2, per: 'agent' } },
  { name: 'a', effect: 'deny', rate: { max: 5, windowSeconds: 2, per: 'tenant' } },
  {
    name: 'a',
    effect: 'require_approval',
    approval: { timeoutSeconds: 1, onTimeout: 'deny', singleUse: true },
  },
  { name: 'a', effect: 'require_approval', approval: { timeoutSeconds: 9, onTimeout: 'deny' } },
  {
    name: 'a',
    effect: 'require_approval',
    approval: { timeoutSeconds: 9, onTimeout: 'deny', singleUse: false },
  },
];
const definitions = policies.map((policy) => policyDefinition(policy));
const pairs = definitions.flatMap((before, from) =>
  definitions.map((after, to) => ({ before, after, from, to })),
);

it.each(pairs)('returns a patch that makes policy $from equal to policy $to', ({ before, after }) => {
  const difference = policyDifference(before, after);
  const patched = policyDefinition(
    policyCreate.parse({
      name: 'a',
      effect: 'deny',
      ...(mergePatch(before, difference?.patch ?? {}) as object),
    }),
  );
  expect(policyDifference(patched, after)).toBeUndefined();
  if (difference === undefined) return;
  expect(policyUpdate.safeParse(difference.patch).error).toBeUndefined();
  expect(difference.changes.length).toBeGreaterThan(0);
});

it('is undefined for policies that differ in the way in which a default is written', () => {
  const [, , , , , , , omitted, written] = definitions;
  if (!omitted || !written) throw new Error('The list of policies is too short.');
  expect(policyDifference(omitted, written)).toBeUndefined();
});

it('reports each field with its values before and after', () => {
  const [, , before, after] = definitions;
  if (!before || !after) throw new Error('The list of policies is too short.');
  expect(policyDifference(before, after)).toEqual({
    changes: [
      { field: 'condition', before: null, after: 'true' },
      { field: 'match.tools', before: ['x', 'y'], after: ['x'] },
      { field: 'match.agents', before: ['z'], after: null },
    ],
    patch: { condition: 'true', match: { tools: ['x'], agents: null } },
  });
});
