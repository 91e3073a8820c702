import {
  byPrecedence,
  checkedAction,
  policyMatch,
  revokedAgent,
  type Verdict,
  verdictOf,
} from '@actlog/policy';
import type { PolicyCheck, SentOf } from '@actlog/protocol';
import { ApiError } from '../service/api-error.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { recordDenial } from './denial.ts';
import { expireActions, findHeld, holdAction } from './pending.ts';
import { ruleOf } from './rule-of.ts';

type CheckAnswer = SentOf<'policies.check'>;

const epoch = new Date(0).toISOString();

interface Fired {
  readonly policy: PolicyRecord;
  readonly why: string;
}

/** What an action of a revoked agent is denied by. */
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

/** Looks again at an action that is held: nothing is counted and nothing is held by it. */
export function checkAgain(tenant: Tenant, check: PolicyCheck, heldId: string, nowMs: number): CheckAnswer {
  expireActions(tenant, nowMs);
  const lasting = candidates(tenant, check).filter(({ policy }) => policy.rate === null);
  const held = tenant.pendingActions.get(heldId);
  const { decision, decidedBy } = verdictOn(lasting);
  if (decidedBy && decision === 'deny') recordDenial(tenant, check, decidedBy.policy, held, nowMs);
  return answer(lasting, held);
}

/**
 * Checks an action against the policies, and holds it where one asks for that.
 *
 * @throws ApiError `ACTION_MISMATCH` where another action was checked under its actionId.
 */
export function checkAction(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckAnswer {
  expireActions(tenant, nowMs);
  const { actionId } = check;
  const { name, digest, known } = namedAction(tenant, check);
  const matched = candidates(tenant, check);
  const wasCounted = known?.isCounted ?? false;
  const fired = fire(tenant, check, matched, wasCounted, nowMs);
  const { decision: effect, decidedBy: deciding } = verdictOn(fired);
  const rated = matched.filter(({ policy }) => policy.rate !== null);
  const counts = rated.length > 0 && effect !== 'deny';
  let held = tenant.pendingActions.get(known?.pendingActionId ?? '');
  let waitsAlready = false;
  if (!held && deciding && effect === 'require_approval') {
    const same = actionId === undefined ? findHeld(tenant, check) : undefined;
    waitsAlready = same !== undefined;
    held = same ?? holdAction(tenant, check, deciding.policy, deciding.why, nowMs);
  }
  if (counts && !wasCounted && !waitsAlready) {
    for (const { policy } of rated) tenant.rateCounts.count(policy, check, nowMs);
  }
  if (deciding && effect === 'deny') recordDenial(tenant, check, deciding.policy, held, nowMs);
  if (actionId !== undefined && (counts || held || effect === 'deny')) {
    const isCounted = counts || wasCounted;
    tenant.namedActions.set(name, { digest, pendingActionId: held?.id ?? null, isCounted });
  }
  return answer(fired, held);
}

/**
 * What {@link checkAction} would answer. It leaves nothing behind: no count, nothing held and no event.
 *
 * @throws ApiError `ACTION_MISMATCH` where another action was checked under its actionId.
 */
export function checkDry(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckAnswer {
  expireActions(tenant, nowMs);
  const { known } = namedAction(tenant, check);
  const fired = fire(tenant, check, candidates(tenant, check), known?.isCounted ?? false, nowMs);
  return answer(fired, tenant.pendingActions.get(known?.pendingActionId ?? ''));
}

/** What is known of the action that the agent names. */
function namedAction(tenant: Tenant, { agentId, sessionId, actionId, action }: PolicyCheck) {
  const name = JSON.stringify([agentId, actionId]);
  const digest = JSON.stringify([sessionId ?? null, action.toolName, action.argumentsHash]);
  const known = actionId === undefined ? undefined : tenant.namedActions.get(name);
  if (known && known.digest !== digest) {
    throw new ApiError(
      'ACTION_MISMATCH',
      'Another action was checked under this actionId; give every action its own.',
    );
  }
  return { name, digest, known };
}

/** Which of the policies fire; a rate counts an action once. */
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

/** A denying policy of today outweighs what a person allowed before; else the person's word holds. */
function answer(fired: readonly Fired[], held: PendingActionRecord | undefined): CheckAnswer {
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

/** What the state of a held action means for the agent that asks. */
function outcomeOf(held: PendingActionRecord): Pick<CheckAnswer, 'decision' | 'decidedBy'> {
  const { status, policyId, onTimeout, decision } = held;
  if (status === 'pending') return { decision: 'require_approval', decidedBy: policyId };
  if (status === 'expired') return { decision: onTimeout, decidedBy: policyId };
  return { decision: status === 'approved' ? 'allow' : 'deny', decidedBy: decision?.decidedBy ?? null };
}
