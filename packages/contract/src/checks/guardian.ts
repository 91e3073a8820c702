import { isDeepStrictEqual } from 'node:util';
import { type Check, check, safeCheck } from '../check.ts';
import { describeResponse, succeeded } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import { requirementOfEndpoint } from '../requirements/endpoints.ts';
import type { Run } from '../run.ts';
import type { HeldAction } from '../world/guardian.ts';
import { type Hold, namesAny } from '../world/hold.ts';
import { valueAt } from '../world/identifier.ts';
import { isUnchanged } from '../world/unchanged.ts';
import { expectRefusal, expectSuccess } from './expectations.ts';

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
