import { isDeepStrictEqual } from 'node:util';
import { type BodyOf, headers as names } from '@actlog/protocol';
import { type Check, check, safeCheck } from '../check.ts';
import { describeResponse, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import { isUnchanged } from '../world/event-record.ts';
import type { HeldAction } from '../world/guardian.ts';
import { type Hold, namesAny } from '../world/hold.ts';
import { valueAt } from '../world/identifier.ts';
import { expectCode, expectObject, expectRefusal, expectStatus, expectSuccess } from './expectations.ts';
import { checkBody, checked, expectEqual, policyFor, sent, skipForeign } from './reference/reference.ts';

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

/** Checks an action that its caller holds: the built-in policy for that is none of the run's. */
async function asked(run: Run, fields: Parameters<typeof checkBody>[0]) {
  return { response: await sent(run, 'policies.check', { body: checkBody(fields) }) };
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
  check('PRF-35', 'an approval of changed arguments', async (run) => {
    const agentId = run.newName('changed');
    const editable = [{ path: 'amount', max: 500 }];
    const approval = { timeoutSeconds: 900, onTimeout: 'deny', editable } as const;
    await policyFor(run, agentId, { effect: 'require_approval', approval });
    const actionId = run.newName('action');
    const action = { toolName, argumentsHash: 'sha256:aa', arguments: { amount: 900 }, acceptsChanges: true };
    const { pendingActionId } = await checked(run, { agentId, actionId, action });
    const id = pendingActionId ?? fail('a held action has no pendingActionId');
    const approve = (changedArguments: object) => ({ decision: 'approve' as const, changedArguments });
    for (const bad of [{ amount: 501 }, { other: 1 }]) {
      const refused = await run.probe.call('guardian.pendingActions.decide', { id, body: approve(bad) });
      expectCode(refused, 'VALIDATION_ERROR');
    }
    const approved = await decide(run, id, { decision: 'approve', changedArguments: { amount: 400 } });
    expectEqual(approved.status, 'approved', 'the status after an approval of changed arguments');
    const requested = await checked(run, { agentId, actionId, action });
    expectEqual(requested.decision, 'deny', 'the decision about the requested arguments');
    expectEqual(requested.changedArguments?.amount, 400, 'changedArguments.amount');
    const changed = (amount: number) => ({
      ...action,
      argumentsHash: 'sha256:bb',
      arguments: { amount },
      changedFrom: 'sha256:aa',
    });
    const body = checkBody({ agentId, actionId, action: changed(401) });
    expectCode(await run.probe.call('policies.check', { body }), 'ACTION_MISMATCH');
    const ran = await checked(run, { agentId, actionId, action: changed(400) });
    expectEqual(ran.decision, 'allow', 'the decision about the changed arguments');
  }),
  check('PRF-35', 'a caller that cannot run changed arguments', async (run) => {
    const agentId = run.newName('unchanged');
    const approval = {
      timeoutSeconds: 900,
      onTimeout: 'deny',
      editable: [{ path: 'amount', max: 500 }],
    } as const;
    await policyFor(run, agentId, { effect: 'require_approval', approval });
    const action = { toolName, argumentsHash: 'sha256:aa', arguments: { amount: 900 } };
    const { pendingActionId } = await checked(run, { agentId, actionId: run.newName('action'), action });
    const id = pendingActionId ?? fail('a held action has no pendingActionId');
    const body = { decision: 'approve', changedArguments: { amount: 400 } };
    expectCode(await run.probe.call('guardian.pendingActions.decide', { id, body }), 'VALIDATION_ERROR');
  }),
  check('PRF-36', 'a hold without a policy', async (run) => {
    const agentId = run.newName('asking');
    const request = { agentId, actionId: run.newName('action'), holdSeconds: 600 };
    const { response } = await asked(run, request);
    expectEqual(response.decision, 'require_approval', 'the decision about an action that its caller holds');
    const id = response.pendingActionId ?? fail('a held action has no pendingActionId');
    await decide(run, id, { decision: 'approve' });
    expectEqual((await asked(run, request)).response.decision, 'allow', 'the decision after the approval');
    await policyFor(run, agentId, { effect: 'deny' });
    const another = { ...request, actionId: run.newName('action') };
    expectEqual((await asked(run, another)).response.decision, 'deny', 'the decision with a policy of deny');
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

/** Creates a held action with a new id. */
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

const toCheck = requirementOfEndpoint['policies.check'];
const toList = requirementOfEndpoint['guardian.pendingActions.list'];
const toDecide = requirementOfEndpoint['guardian.pendingActions.decide'];

/** `true` if the check with the policy returned the same as the one before, apart from names of the run. */
function isSameResponse(run: Run, { free, checked }: Hold): boolean {
  const named = new RegExp(`${run.prefix}-[\\w-]*\\d`, 'g');
  const plain = (json: unknown) => JSON.parse(JSON.stringify(json ?? null).replaceAll(named, 'name'));
  return isDeepStrictEqual(plain(free.json), plain(checked.json));
}

/** Returns the item of a held action in the current list; undefined if it is not there. */
async function current(run: Run, { names, item }: HeldAction, idPath: readonly string[]): Promise<unknown> {
  const all = await run.guardian.pending();
  const id = valueAt(item, idPath);
  return all.find((one) => namesAny(one, names) && (id === undefined || valueAt(one, idPath) === id));
}

/** Checks of policy checks and held actions. */
export const guardianChecks: readonly Check[] = [
  check(toCheck, 'checks an action', async (run) => {
    const response = await run.guardian.check(run.traffic.probeAgentId);
    run.records.taken('policies.check', response);
    expectSuccess(response);
  }),
  check(toCheck, 'shows that an action is held', async (run) => {
    const hold = await run.guardian.hold();
    if (hold.wasHeldBefore) skip('another policy of the tenant holds the action: use a separate tenant');
    if (hold.item === undefined) skip('no action is listed as held (END-17)');
    if (isSameResponse(run, hold))
      fail(`${describeResponse(hold.checked)} for an action that is held, and the same for one that is not`);
  }),
  check(toCheck, "applies a policy to its agent's actions only", async (run) => {
    if (!JSON.stringify(run.records.template('policies.hold')).includes('{agentId}'))
      skip('the body of policies.hold names no {agentId}');
    const [first, second] = [await run.guardian.hold(1), await run.guardian.hold(2)];
    if (first.wasHeldBefore) skip('another policy of the tenant holds the action: use a separate tenant');
    if (second.wasHeldBefore) fail('a policy for one agent holds an action of another agent');
  }),
  safeCheck(toList, 'is available', async ({ probe }) => {
    expectSuccess(await probe.call('guardian.pendingActions.list'));
  }),
  check(toList, 'shows the action that is held', async (run) => {
    const hold = await run.guardian.hold();
    if (hold.item !== undefined) return;
    if (hold.isClaimed)
      fail('the policy of policies.hold was created, but the action that it should hold is not listed');
    if (!isSameResponse(run, hold) && !hold.wasHeldBefore)
      fail(`${describeResponse(hold.checked)} after a policy was created, but no action is listed`);
    skip('the policy that should hold an action had no effect; pass policies.hold in --bodies');
  }),
  check(toDecide, 'is available', async (run) => {
    const response = await run.guardian.decide(run.newName('nothing'));
    if (response.status === 405 || response.status === 501) fail(describeResponse(response));
    expectRefusal(response, 'the action does not exist');
  }),
  check(toDecide, 'decides the action that is held', async (run) => {
    const { response, id } = await run.guardian.decided();
    run.records.taken('guardian.pendingActions.decide', response);
    if (id === undefined) fail(`none of the action's values identifies it: ${describeResponse(response)}`);
    expectSuccess(response);
  }),
  check(toDecide, 'leaves a decided action no longer pending', async (run) => {
    const { response, held, idPath } = await run.guardian.decided();
    if (!succeeded(response)) skip(`no action can be decided: ${describeResponse(response)}`);
    const isOpen = (item: unknown) => item !== undefined && isUnchanged(item, held.item);
    const item = await run.eventually(
      () => current(run, held, idPath),
      (found) => !isOpen(found),
    );
    if (isOpen(item))
      fail(`the decision returned ${response.status}, but the action is listed as it was before`);
  }),
  check(toDecide, 'decides no other action', async (run) => {
    const { response, idPath } = await run.guardian.decided();
    if (!succeeded(response)) skip(`no action can be decided: ${describeResponse(response)}`);
    const other = await run.guardian.held(2);
    const item = await current(run, other, idPath);
    if (item === undefined || !isUnchanged(item, other.item))
      fail('another action that was held is no longer pending as it was before');
  }),
  check(requirementOfEndpoint['policies.archive'], 'ends the effect of the policy', async (run) => {
    const { policy, agentId, names, wasHeldBefore } = await run.guardian.held(3);
    if (wasHeldBefore) skip('another policy of the tenant holds the action: use a separate tenant');
    const id = policy.id ?? skip('the policy has no known identifier (END-13)');
    const response = await run.probe.call('policies.archive', { id });
    if (!succeeded(response)) skip(`no policy can be archived: ${describeResponse(response)}`);
    const countHeld = async () =>
      (await run.guardian.pending()).filter((one) => namesAny(one, { ...names, agentId })).length;
    const isHeldAgain = await run.eventually(
      async () => {
        const before = await countHeld();
        expectSuccess(await run.guardian.check(agentId));
        return (await countHeld()) > before;
      },
      (isHeld) => !isHeld,
    );
    if (isHeldAgain) fail('the archived policy still holds actions');
  }),
];
