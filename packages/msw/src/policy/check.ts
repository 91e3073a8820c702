import {
  actionMismatch,
  agentRevoked,
  approvalSubject,
  byPrecedence,
  type CheckDecision,
  type CheckResponse,
  checkedAction,
  checkResponse,
  coveringGrant,
  decideCheck,
  decideWaitingCheck,
  exceededRates,
  type FiredPolicy,
  firedPolicies,
  type KnownAction,
  lastingPolicies,
  matchPolicy,
  needsHistory,
  type RateWindow,
  rateWindows,
  revokedAbove,
  scheduledPolicies,
} from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';
import { refusalError } from '../service/api-error.ts';
import { newId } from '../service/new-id.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { useGrant } from './approval-grants.ts';
import { findDecidingAction, useApproval } from './approval-use.ts';
import { historyOf, isWatched, noteCheck, recordCall } from './check-history.ts';
import { isDenialRecorded, recordDenial } from './denials.ts';
import { expireActions, findEqualHeld, holdAction } from './pending.ts';
import { ruleOf } from './rule-of.ts';

/** Checks a held action again without counting or holding it, unless another check used up the approval. */
export function checkAgain(
  tenant: Tenant,
  check: PolicyCheck,
  heldId: string,
  keyId: string,
  nowMs: number,
): CheckResponse {
  expireActions(tenant, nowMs);
  const held = findDecidingAction(tenant, check, heldId, nowMs);
  if (!held) return checkAction(tenant, check, keyId, nowMs);
  const fired = lastingPolicies(matchingPolicies(tenant, check, nowMs));
  const decision = decideWaitingCheck({
    fired,
    held,
    isWatched: isWatched(tenant, check),
    isDenialRecorded: isDenialRecorded(tenant, check, fired, held.id),
  });
  apply(tenant, check, decision, [], nowMs);
  return decision.response;
}

/**
 * Checks an action against the policies and holds it if one of them requires approval.
 *
 * @throws ApiError `ACTION_MISMATCH` if another action was checked with the same actionId.
 */
export function checkAction(tenant: Tenant, check: PolicyCheck, keyId: string, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const known = knownAction(tenant, check);
  const { fired, windows } = firedOf(tenant, check, known, nowMs);
  const held = findDecidingAction(tenant, check, known?.heldId, nowMs);
  const equalHeld = check.actionId === undefined ? findEqualHeld(tenant, check, keyId) : undefined;
  const decision = decideCheck({
    check,
    fired,
    isRated: windows.length > 0,
    isWatched: isWatched(tenant, check),
    known,
    held,
    grant: grantFor(tenant, check, fired, known, nowMs),
    equalHeld,
    isDenialRecorded: isDenialRecorded(tenant, check, fired, held?.id ?? null),
    newHeldId: newId('pac'),
    keyId,
    nowMs,
  });
  apply(tenant, check, decision, windows, nowMs);
  noteCheck(tenant, check, nowMs);
  return decision.response;
}

/**
 * Returns the result of {@link checkAction} without side effects: nothing is counted, held or recorded.
 *
 * @throws ApiError `ACTION_MISMATCH` if another action was checked with the same actionId.
 */
export function checkDry(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const known = knownAction(tenant, check);
  const { fired } = firedOf(tenant, check, known, nowMs);
  noteCheck(tenant, check, nowMs);
  const held = findDecidingAction(tenant, check, known?.heldId, nowMs);
  return checkResponse(fired, held, grantFor(tenant, check, fired, known, nowMs));
}

/** Applies the effects of a decision. An action that is too large to be held throws before anything changes. */
function apply(
  tenant: Tenant,
  check: PolicyCheck,
  { effects }: CheckDecision,
  windows: readonly RateWindow[],
  nowMs: number,
): void {
  for (const effect of effects) {
    if (effect.type === 'use_approval') useApproval(tenant, check, effect.heldId, nowMs);
    else if (effect.type === 'use_grant') useGrant(tenant, check, effect, nowMs);
    else if (effect.type === 'hold') holdAction(tenant, check, effect, nowMs);
    else if (effect.type === 'count') tenant.rateCounts.count(windows);
    else if (effect.type === 'record_call') recordCall(tenant, check, effect.isAllowed, nowMs);
    else if (effect.type === 'record_denial') recordDenial(tenant, check, effect, nowMs);
    else {
      tenant.namedActions.set(nameOf(check), { ...effect.action, subject: approvalSubject(check) });
    }
  }
}

/** Returns the stored data of an action with an actionId. */
function knownAction(tenant: Tenant, check: PolicyCheck): KnownAction | undefined {
  const known = check.actionId === undefined ? undefined : tenant.namedActions.get(nameOf(check));
  if (known && known.subject !== approvalSubject(check)) throw refusalError(actionMismatch);
  return known;
}

/** Returns the grant of an approver that allows the action, if policies would hold it. */
function grantFor(
  tenant: Tenant,
  check: PolicyCheck,
  fired: readonly FiredPolicy[],
  known: KnownAction | undefined,
  nowMs: number,
) {
  return coveringGrant([...tenant.grants.values()], {
    check,
    subject: () => approvalSubject(check),
    fired,
    usedGrantId: known?.grantId ?? null,
    nowMs,
  });
}

function nameOf({ agentId, actionId }: PolicyCheck): string {
  return JSON.stringify([agentId, actionId]);
}

/** Returns the policies that fire, and the windows of the rates among the matching ones. */
function firedOf(tenant: Tenant, check: PolicyCheck, known: KnownAction | undefined, nowMs: number) {
  const matching = matchingPolicies(tenant, check, nowMs);
  const windows = rateWindows(matching, checkedAction(check), nowMs);
  const counted = tenant.rateCounts.countedIn(windows);
  const exceeded = exceededRates(windows, counted, known?.isCounted === true);
  return { fired: firedPolicies(matching, exceeded), windows };
}

function matchingPolicies(tenant: Tenant, check: PolicyCheck, nowMs: number): readonly FiredPolicy[] {
  const action = checkedAction(check);
  const all = [...tenant.policies.values()]
    .filter(({ status }) => status === 'active')
    .sort(byPrecedence)
    .flatMap((policy) => {
      const rule = ruleOf(policy);
      const history = needsHistory(rule, action) ? historyOf(tenant, check, policy, nowMs) : undefined;
      const why = matchPolicy(rule, action, history);
      return why === undefined
        ? []
        : [{ policy: { id: policy.id, definition: policy, version: policy.version }, why }];
    });
  const matching = scheduledPolicies(all, nowMs);
  const isRevoked = (id: string) => tenant.agents.get(id)?.status === 'revoked';
  if (isRevoked(check.agentId)) return [agentRevoked, ...matching];
  const above = check.parentAgentIds?.find(isRevoked);
  return above === undefined ? matching : [revokedAbove(above), ...matching];
}
