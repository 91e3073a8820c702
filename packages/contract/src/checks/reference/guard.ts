import { headers as names } from '@actlog/protocol';
import { type Check, check } from '../../check.ts';
import { fail, skip } from '../../outcome.ts';
import type { Run } from '../../run.ts';
import { expectCode, expectObject, expectStatus } from '../expectations.ts';
import { checkBody, checked, expectEqual, policyFor, sent, skipForeign } from './reference.ts';

/** Creates an action that is held under its own id. */
async function held(run: Run) {
  const agentId = run.newName('guarded');
  await policyFor(run, agentId, { effect: 'require_approval' });
  const request = { agentId, actionId: run.newName('action') };
  const { decision, pendingActionId } = await checked(run, request);
  expectEqual(decision, 'require_approval', 'the first decision');
  return { request, id: pendingActionId ?? fail('a held action has no pendingActionId') };
}

/** Checks of policy checks and decisions. */
export const referenceGuardChecks: readonly Check[] = [
  check('PRF-19', 'precedence', async (run) => {
    const agentId = run.newName('judged');
    expectEqual((await checked(run, { agentId })).decision, 'allow', 'with no policy, the decision');
    const steps = [
      ['allow', 'allow'],
      ['require_approval', 'require_approval'],
      ['deny', 'deny'],
    ] as const;
    for (const [effect, expected] of steps) {
      await policyFor(run, agentId, { effect });
      expectEqual(
        (await checked(run, { agentId })).decision,
        expected,
        `with a policy of ${effect}, the decision`,
      );
    }
  }),
  ...(['approve', 'deny'] as const).map((decision) =>
    check('PRF-20', `a repeated check after ${decision}`, async (run) => {
      const { request, id } = await held(run);
      expectEqual((await checked(run, request)).pendingActionId, id, 'pendingActionId of the repeated check');
      const action = { toolName: 'contract_probe', argumentsHash: 'sha256:bb' };
      const body = { ...request, sessionId: `${request.agentId}-session`, action };
      expectCode(await run.probe.call('policies.check', { body }), 'ACTION_MISMATCH');
      const same = { toolName: 'contract_probe', argumentsHash: 'sha256:aa' };
      const shown = { ...body, action: { ...same, arguments: { amount: 1_000_000 } } };
      expectCode(await run.probe.call('policies.check', { body: shown }), 'ACTION_MISMATCH');
      await sent(run, 'guardian.pendingActions.decide', { id, body: { decision } });
      const after = decision === 'approve' ? 'allow' : 'deny';
      expectEqual((await checked(run, request)).decision, after, 'the decision afterwards');
    }),
  ),
  check('PRF-21', 'a decision, its repetition, and a different one', async (run) => {
    const { id } = await held(run);
    const decide = (decision: string) =>
      run.probe.call('guardian.pendingActions.decide', { id, body: { decision } });
    expectStatus(await decide('approve'), 200);
    expectStatus(await decide('approve'), 200);
    expectCode(await decide('deny'), 'ALREADY_DECIDED');
    const { items } = await sent(run, 'guardian.pendingActions.list', { query: { limit: 200 } });
    if (items.some((action) => action.id === id)) fail('a decided action is still listed as pending');
  }),
  check('PRF-29', 'a dry run of an action that would be held', async (run) => {
    const agentId = run.newName('tried');
    await policyFor(run, agentId, { effect: 'require_approval' });
    const request = { agentId, actionId: run.newName('action') };
    const dry = await run.probe.call('policies.check', {
      body: checkBody(request),
      headers: { [names.prefer]: 'dry-run' },
    });
    const applied = dry.headers.get('preference-applied') ?? '';
    // A service may ignore a preference (RFC 7240, section 2).
    if (!/\bdry-run\b/i.test(applied)) skip('the service does not return Preference-Applied: dry-run');
    skipForeign(run, expectObject(dry).matched);
    expectEqual(expectObject(dry).decision, 'require_approval', 'the decision of the dry run');
    const { items } = await sent(run, 'guardian.pendingActions.list', { query: { agentId } });
    expectEqual(items.length, 0, 'after the dry run, the number of actions that the agent waits for');
    const action = { toolName: 'contract_probe', argumentsHash: 'sha256:bb' };
    expectEqual(
      (await checked(run, { ...request, action })).decision,
      'require_approval',
      'the next decision',
    );
  }),
];
