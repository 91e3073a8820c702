import { expect, test } from 'vitest';
import { approvalRules, holdingVersions } from './approval-rules.ts';
import { agentRevoked, type FiredPolicy, type PolicyDefinition } from './fired-policy.ts';

type Approval = NonNullable<PolicyDefinition['approval']>;

function policy(approval: Partial<Approval> | null, fields: Partial<PolicyDefinition> = {}): FiredPolicy {
  const { definition } = agentRevoked.policy;
  const complete = approval && { timeoutSeconds: 900, onTimeout: 'deny' as const, ...approval };
  const changed = { ...definition, effect: 'require_approval' as const, approval: complete, ...fields };
  return { policy: { id: 'pol_1', version: 3, definition: changed }, why: '' };
}

test('an approval is single-use if any enforced policy that holds the action requires it', () => {
  const once = { singleUse: true };
  const isSingleUse = (...fired: FiredPolicy[]) => approvalRules(fired).singleUse;
  expect(isSingleUse(policy({}), policy(once))).toBe(true);
  expect(isSingleUse(policy({}), policy(null))).toBe(false);
  expect(isSingleUse(policy({}), policy(once, { mode: 'log_only' }))).toBe(false);
});

test('requires one approver by default', () => {
  expect(approvalRules([policy(null)])).toEqual({
    required: 1,
    approverKeys: null,
    approverGroups: null,
    notRequester: false,
    verifiedPrincipal: false,
    singleUse: false,
    editable: [],
  });
});

test('satisfies every policy that holds the action', () => {
  const first = policy({ requiredApprovers: 2, approverKeys: ['key_a', 'key_b'] });
  const second = policy({ requiredApprovers: 3, notRequester: true });
  const third = policy({ approverKeys: ['key_b', 'key_c'] });
  expect(approvalRules([first, second, third])).toMatchObject({
    required: 3,
    approverKeys: ['key_b'],
    notRequester: true,
  });
  expect(approvalRules([first, policy({ approverKeys: ['key_c'] })]).approverKeys).toEqual([]);
});

test('ignores policies that do not hold the action', () => {
  const strict = { requiredApprovers: 5, notRequester: true };
  const fired = [policy(strict, { mode: 'log_only' }), policy(strict, { effect: 'deny' }), policy({})];
  expect(approvalRules(fired)).toMatchObject({ required: 1, notRequester: false });
  expect(holdingVersions(fired)).toEqual([{ id: 'pol_1', version: 3 }]);
});
