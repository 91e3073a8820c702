import {
  approvalSubject,
  byPrecedence,
  checkedAction,
  needsSingleUse,
  policyMatch,
  revokedAgent,
  type Verdict,
  verdictOf,
} from '@actlog/policy';
import type { PolicyCheck, SentOf } from '@actlog/protocol';
import { ApiError } from '../service/api-error.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { findDecidingAction, useApproval } from './approval-use.ts';
import { recordDenial } from './denial.ts';
import { expireActions, findHeld, holdAction } from './pending.ts';
import { ruleOf } from './rule-of.ts';

type CheckResponse = SentOf<'policies.check'>;

const epoch = new Date(0).toISOString();

interface Fired {
  readonly policy: PolicyRecord;
  readonly why: string;
}

/** Match that denies an action of a revoked agent. */
const agentRevoked: Fired = {
  policy: {
    id: revokedAgent.id,
    ...revokedAgent.definition,
    status: 'active',
    createdAt: epoch,
    updatedAt: epoch,
    archivedAt: null,
    version: 1,
  },
  why: revokedAgent.why,
};

/** Checks a held action again without counting or holding it, unless another check used up the approval. */
export function checkAgain(tenant: Tenant, check: PolicyCheck, heldId: string, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const lasting = candidates(tenant, check).filter(({ policy }) => policy.rate === null);
  const held = findDecidingAction(tenant, check, heldId, nowMs);
  if (!held && tenant.pendingActions.has(heldId)) return checkAction(tenant, check, nowMs);
  const { decision, decidedBy } = verdictOn(lasting);
  if (decidedBy && decision === 'deny') recordDenial(tenant, check, decidedBy.policy, held, nowMs);
  return decideAndUse(tenant, check, lasting, held, nowMs);
}

/**
 * Checks an action against the policies and holds it if one of them requires approval.
 *
 * @throws ApiError `ACTION_MISMATCH` if another action was checked with the same actionId.
 */
export function checkAction(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const { actionId } = check;
  const { name, digest, known } = namedAction(tenant, check);
  const matched = candidates(tenant, check);
  const wasCounted = known?.isCounted ?? false;
  const fired = fire(tenant, check, matched, wasCounted, nowMs);
  const { decision: effect, decidedBy: deciding } = verdictOn(fired);
  const rated = matched.filter(({ policy }) => policy.rate !== null);
  const counts = rated.length > 0 && effect !== 'deny';
  let held = findDecidingAction(tenant, check, known?.pendingActionId, nowMs);
  let waitsAlready = false;
  if (!held && deciding && effect === 'require_approval') {
    const same = actionId === undefined ? findHeld(tenant, check) : undefined;
    waitsAlready = same !== undefined;
    const isForOneCall = needsSingleUse(fired, ({ policy }) => policy);
    held = same ?? holdAction(tenant, check, deciding.policy, deciding.why, isForOneCall, nowMs);
  }
  if (counts && !wasCounted && !waitsAlready) {
    for (const { policy } of rated) tenant.rateCounts.count(policy, check, nowMs);
  }
  if (deciding && effect === 'deny') recordDenial(tenant, check, deciding.policy, held, nowMs);
  if (actionId !== undefined && (counts || held || effect === 'deny')) {
    const isCounted = counts || wasCounted;
    tenant.namedActions.set(name, { digest, pendingActionId: held?.id ?? null, isCounted });
  }
  return decideAndUse(tenant, check, fired, held, nowMs);
}

/** Returns the response to a check, and uses up a single-use approval that allows its action. */
function decideAndUse(
  tenant: Tenant,
  check: PolicyCheck,
  fired: readonly Fired[],
  held: PendingActionRecord | undefined,
  nowMs: number,
): CheckResponse {
  const response = responseOf(fired, held);
  if (held && response.decision === 'allow') useApproval(tenant, check, held, nowMs);
  return response;
}

/**
 * Returns the result of {@link checkAction} without side effects: nothing is counted, held or recorded.
 *
 * @throws ApiError `ACTION_MISMATCH` if another action was checked with the same actionId.
 */
export function checkDry(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const { known } = namedAction(tenant, check);
  const fired = fire(tenant, check, candidates(tenant, check), known?.isCounted ?? false, nowMs);
  return responseOf(fired, findDecidingAction(tenant, check, known?.pendingActionId, nowMs));
}

/** Returns the stored data of an action with an actionId. */
function namedAction(tenant: Tenant, check: PolicyCheck) {
  const { agentId, actionId } = check;
  const name = JSON.stringify([agentId, actionId]);
  const digest = approvalSubject(check);
  const known = actionId === undefined ? undefined : tenant.namedActions.get(name);
  if (known && known.digest !== digest) {
    throw new ApiError(
      'ACTION_MISMATCH',
      'Another action was checked under this actionId; use a new actionId for each action.',
    );
  }
  return { name, digest, known };
}

/** Returns the matching policies; a rate counts an action once. */
function fire(
  tenant: Tenant,
  check: PolicyCheck,
  matched: readonly Fired[],
  isCounted: boolean,
  nowMs: number,
): Fired[] {
  return matched.flatMap(({ policy, why }) => {
    if (policy.rate === null) return [{ policy, why }];
    const exceeded = tenant.rateCounts.exceeded(policy, check, isCounted, nowMs);
    return exceeded === undefined ? [] : [{ policy, why: `${why}; ${exceeded}` }];
  });
}

function candidates(tenant: Tenant, check: PolicyCheck): Fired[] {
  const action = checkedAction(check);
  const matching = [...tenant.policies.values()]
    .filter(({ status }) => status === 'active')
    .sort(byPrecedence)
    .flatMap((policy) => {
      const why = policyMatch(ruleOf(policy), action);
      return why === undefined ? [] : [{ policy, why }];
    });
  return tenant.agents.get(check.agentId)?.status === 'revoked' ? [agentRevoked, ...matching] : matching;
}

function verdictOn(fired: readonly Fired[]): Verdict<Fired> {
  return verdictOf(fired, ({ policy }) => policy);
}

/**
 * Returns the decision: a policy that denies now overrides an earlier approval; otherwise the approver's
 * decision holds.
 */
function responseOf(fired: readonly Fired[], held: PendingActionRecord | undefined): CheckResponse {
  const { decision, decidedBy } = verdictOn(fired);
  const byPolicy = { decision, decidedBy: decidedBy?.policy.id ?? null };
  const deciding = byPolicy.decision === 'deny' ? undefined : held;
  return {
    ...(deciding ? outcomeOf(deciding) : byPolicy),
    comment: deciding?.decision?.comment ?? null,
    matched: fired.map(({ policy: { id, effect, mode, message }, why }) => ({
      policyId: id,
      effect,
      mode,
      why,
      message,
    })),
    pendingActionId: held?.id ?? null,
    expiresAt: held?.expiresAt ?? null,
  };
}

/** Maps the state of a held action to the decision for the agent. */
function outcomeOf(held: PendingActionRecord): Pick<CheckResponse, 'decision' | 'decidedBy'> {
  const { status, policyId, onTimeout, decision } = held;
  if (status === 'pending') return { decision: 'require_approval', decidedBy: policyId };
  if (status === 'expired') return { decision: onTimeout, decidedBy: policyId };
  return { decision: status === 'approved' ? 'allow' : 'deny', decidedBy: decision?.decidedBy ?? null };
}
