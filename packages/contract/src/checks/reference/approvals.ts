import type { BodyOf } from '@actlog/protocol';
import { type Check, check } from '../../check.ts';
import { fail } from '../../outcome.ts';
import type { Run } from '../../run.ts';
import { expectCode } from '../expectations.ts';
import { checked, expectEqual, policyFor, sent } from './reference.ts';

type Decide = BodyOf<'guardian.pendingActions.decide'>;

const toolName = 'contract_probe';

/** Checks an action of an agent that a policy holds, and returns the id of the pending action. */
async function hold(run: Run, agentId: string): Promise<string> {
  const { pendingActionId } = await checked(run, { agentId, actionId: run.newName('action') });
  return pendingActionId ?? fail('a held action has no pendingActionId');
}

function decide(run: Run, id: string, body: Decide) {
  return sent(run, 'guardian.pendingActions.decide', { id, body });
}

/** Returns the decision about an action that has the hash and no `actionId`. */
async function decisionOn(run: Run, agentId: string, argumentsHash: string): Promise<string> {
  return (await checked(run, { agentId, action: { toolName, argumentsHash } })).decision;
}

/** Names of the days, as `Date` counts them. */
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** Returns the day that is this many days from now, in UTC. */
function dayFromNow(count: number): (typeof days)[number] {
  return days[(new Date().getUTCDay() + count) % 7] as (typeof days)[number];
}

/** Checks of approvals by several people, of grants and of schedules. */
export const referenceApprovalChecks: readonly Check[] = [
  check('PRF-32', 'an approval of two', async (run) => {
    const agentId = run.newName('approved-by-two');
    const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;
    await policyFor(run, agentId, { effect: 'require_approval', approval });
    const id = await hold(run, agentId);
    for (const time of ['first', 'second']) {
      const action = await decide(run, id, { decision: 'approve' });
      expectEqual(action.status, 'pending', `the status after the ${time} approval with one key`);
      expectEqual(action.approvals.given.length, 1, 'the number of approvals');
    }
    expectEqual((await decide(run, id, { decision: 'deny' })).status, 'denied', 'the status after a denial');
  }),
  check('PRF-33', 'a grant for the same action', async (run) => {
    const agentId = run.newName('granted');
    const policy = await policyFor(run, agentId, { effect: 'require_approval' });
    const action = await decide(run, await hold(run, agentId), {
      decision: 'approve',
      grant: { for: 'action', durationSeconds: 600 },
    });
    const again = await checked(run, { agentId });
    expectEqual(again.decision, 'allow', 'the decision about the same action');
    expectEqual(again.grantId, action.grantId, 'grantId');
    expectEqual(await decisionOn(run, agentId, 'sha256:cc'), 'require_approval', 'that about another action');
    const { id } = await policyFor(run, agentId, { effect: 'deny' });
    expectEqual((await checked(run, { agentId })).decision, 'deny', 'the decision with a policy of deny');
    await sent(run, 'policies.archive', { id });
    await sent(run, 'policies.update', { id: policy.id, body: { description: 'changed' } });
    const changed = await checked(run, { agentId });
    expectEqual(changed.decision, 'require_approval', 'the decision after the policy was changed');
  }),
  check('PRF-34', 'policies within their schedule and outside it', async (run) => {
    const agentId = run.newName('scheduled');
    // Far enough from now for every difference of clocks.
    const schedule = { timeZone: 'UTC', days: [dayFromNow(3)] };
    await policyFor(run, agentId, { schedule });
    expectEqual((await checked(run, { agentId })).decision, 'allow', 'the decision outside the schedule');
    const near = [dayFromNow(6), dayFromNow(0), dayFromNow(1)];
    await policyFor(run, agentId, { schedule: { timeZone: 'UTC', days: near } });
    expectEqual((await checked(run, { agentId })).decision, 'deny', 'the decision within the schedule');
  }),
  check('PRF-34', 'an unknown time zone', async (run) => {
    const { response } = await run.records.make('policies', (name) => ({
      name,
      effect: 'deny',
      match: { agents: [run.newName('scheduled')] },
      schedule: { timeZone: 'Contract/Unknown' },
    }));
    expectCode(response, 'VALIDATION_ERROR');
  }),
];
