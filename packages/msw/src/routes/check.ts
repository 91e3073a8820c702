import {
  AgentTools,
  actionMismatch,
  agentRevoked,
  approvalSubject,
  byPrecedence,
  type CallEnd,
  CallHistory,
  type CheckDecision,
  type CheckEffect,
  type CheckResponse,
  checkedAction,
  checkPreference,
  checkResponse,
  coveringGrant,
  decideCheck,
  decideWaitingCheck,
  denialIdentity,
  denyingPolicy,
  exceededRates,
  type FiredPolicy,
  firedPolicies,
  isApprovedChange,
  isUsedUp,
  type KnownAction,
  keptArguments,
  lastingPolicies,
  matchPolicy,
  mayReadHistory,
  needsHistory,
  type PolicyHistory,
  policiesOfChanged,
  policyDecision,
  type RateWindow,
  rateWindows,
  revokedAbove,
  scheduledPolicies,
  WatchedCalls,
  withPrompt,
} from '@actlog/policy';
import { headers as names, type PolicyCheck, type SentOf, toolCallCategory } from '@actlog/protocol';
import { readsUntrusted } from '@actlog/risk';
import { recordDecision, ruleOf, useGrant } from '../policy/approval-grants.ts';
import { expireActions, findEqualHeld, holdAction, lengthenHold, runChanged } from '../policy/pending.ts';
import { invalid, refusalError } from '../service/api-error.ts';
import { type Call, newId, type Route } from '../service/call.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/**
 * `POST /v1/policies/check`: delayed until a decision if the caller prefers to wait (RFC 7240, section 4.3),
 * or a dry run.
 */
export const checkPolicies: Route<'policies.check'> = async (call) => {
  const { tenant, body, headers, nowMs, responseHeaders, protoKeysRemoved } = call;
  if (protoKeysRemoved) throw invalid('', 'proto_key', 'contains a key named __proto__');
  if (body.action.changedFrom !== undefined && body.actionId === undefined) {
    throw invalid('action.changedFrom', 'no_action', 'needs the actionId of the requested action');
  }
  const { waitSeconds, isDryRun } = checkPreference(headers.get(names.prefer) ?? undefined);
  if (isDryRun) {
    responseHeaders.set('preference-applied', 'dry-run');
    const result = checkDry(tenant, body, nowMs);
    noteCheck(tenant, body, nowMs);
    return result;
  }
  if (waitSeconds > 0) responseHeaders.set('preference-applied', `wait=${waitSeconds}`);
  const result = checkAction(tenant, body, call.keyId, nowMs);
  return waitSeconds > 0 ? decided(call, result, nowMs + waitSeconds * 1000) : result;
};

/** Waits for the decision, at most until the given time. */
async function decided(
  { tenant, keyId, body, nowMs, signal }: Call<'policies.check'>,
  first: SentOf<'policies.check'>,
  latestMs: number,
): Promise<SentOf<'policies.check'>> {
  let result = first;
  if (!result.expiresAt) return result;
  const untilMs = Math.min(latestMs, Date.parse(result.expiresAt));
  let isOver = false;
  // A single timer ends the wait instead of the clock: fake timers may move only one of them.
  const end = () => {
    isOver = true;
    tenant.waiting.wake();
  };
  const timer = setTimeout(end, untilMs - nowMs);
  // A waiter may be woken for another reason and checks again.
  const heldId = first.pendingActionId;
  while (result.decision === 'require_approval' && result.pendingActionId && !isOver) {
    // An action that is held anew because another check used up its approval is reported immediately.
    if (signal.aborted || result.pendingActionId !== heldId || !tenant.pendingActions.has(heldId)) break;
    await tenant.waiting.wait(signal);
    // A mock that was reset meanwhile does not hold the action anew: it belongs to the time before.
    if (!tenant.pendingActions.has(heldId)) {
      result = checkDry(tenant, body, Date.now());
      break;
    }
    const thenMs = isOver ? Math.max(untilMs, Date.now()) : Date.now();
    result = checkAgain(tenant, body, result.pendingActionId, keyId, thenMs);
  }
  clearTimeout(timer);
  return result;
}

/** Checks a held action again without counting or holding it, unless another check used up the approval. */
function checkAgain(
  tenant: Tenant,
  check: PolicyCheck,
  heldId: string,
  keyId: string,
  nowMs: number,
): CheckResponse {
  expireActions(tenant, nowMs);
  lengthenHold(tenant, check, heldId, nowMs);
  const held = findDecidingAction(tenant, check, heldId, nowMs);
  if (!held) return checkAction(tenant, check, keyId, nowMs);
  const fired = lastingPolicies(matchingPolicies(tenant, check, nowMs));
  const decision = decideWaitingCheck({
    check,
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
function checkAction(tenant: Tenant, check: PolicyCheck, keyId: string, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const known = knownAction(tenant, check, nowMs);
  const { fired, windows } = firedOf(tenant, check, known, nowMs);
  lengthenHold(tenant, check, known?.heldId, nowMs);
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
function checkDry(tenant: Tenant, check: PolicyCheck, nowMs: number): CheckResponse {
  expireActions(tenant, nowMs);
  const known = knownAction(tenant, check, nowMs);
  const { fired } = firedOf(tenant, check, known, nowMs);
  const held = findDecidingAction(tenant, check, known?.heldId, nowMs);
  const isRequested = check.action.changedFrom === undefined;
  return checkResponse(fired, held, grantFor(tenant, check, fired, known, nowMs), isRequested);
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
    else if (effect.type === 'run_changed') runChanged(tenant, check, effect.held.id, nowMs);
    else if (effect.type === 'use_grant') useGrant(tenant, check, effect, nowMs);
    else if (effect.type === 'hold') holdAction(tenant, check, effect, nowMs);
    else if (effect.type === 'count') tenant.rateCounts.count(windows);
    else if (effect.type === 'record_call') recordCall(tenant, check, effect.isAllowed, nowMs);
    else if (effect.type === 'record_denial') recordDenial(tenant, check, effect, nowMs);
    else {
      const name = nameOf(check);
      // An action whose arguments an approver changed is still the requested one.
      const requested = check.action.changedFrom === undefined ? undefined : tenant.namedActions.get(name);
      tenant.namedActions.set(name, {
        ...effect.action,
        subject: requested?.subject ?? approvalSubject(check),
      });
    }
  }
}

/** Returns the stored data of an action with an actionId. */
function knownAction(tenant: Tenant, check: PolicyCheck, nowMs: number): KnownAction | undefined {
  const known = check.actionId === undefined ? undefined : tenant.namedActions.get(nameOf(check));
  if (check.action.changedFrom !== undefined) {
    const held = findDecidingAction(tenant, check, known?.heldId, nowMs);
    const changed = held && known && { ...held, shown: held.action.arguments, subject: known.subject };
    if (changed && isApprovedChange(check, changed, approvalSubject)) return known;
    throw refusalError(actionMismatch);
  }
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
  const scheduled = scheduledPolicies(all, nowMs);
  const { changedFrom } = check.action;
  const heldId = changedFrom === undefined ? undefined : tenant.namedActions.get(nameOf(check))?.heldId;
  const holding = tenant.holdingPolicies.get(heldId ?? '');
  const matching = withPrompt(holding ? policiesOfChanged(scheduled, holding) : scheduled, check);
  const isRevoked = (id: string) => tenant.agents.get(id)?.status === 'revoked';
  if (isRevoked(check.agentId)) return [agentRevoked, ...matching];
  const above = check.parentAgentIds?.find(isRevoked);
  return above === undefined ? matching : [revokedAbove(above), ...matching];
}

/** Returns the held action that decides a check. A used single-use approval no longer decides. */
function findDecidingAction(
  tenant: Tenant,
  { actionId }: PolicyCheck,
  id: string | null | undefined,
  nowMs: number,
): PendingActionRecord | undefined {
  const use = tenant.approvalUses.get(id ?? '');
  return use && isUsedUp(use, actionId, nowMs) ? undefined : tenant.pendingActions.get(id ?? '');
}

/** Uses up the single-use approval of a held action for a check that it allows. */
function useApproval(tenant: Tenant, { actionId }: PolicyCheck, heldId: string, nowMs: number): void {
  const held = tenant.pendingActions.get(heldId) as PendingActionRecord;
  tenant.approvalUses.set(heldId, { actionId: actionId ?? null, usedMs: nowMs });
  tenant.pendingActions.set(heldId, { ...held, usedAt: new Date(nowMs).toISOString() });
}

/** `true` if no policy denies the action, or its denial is recorded. */
function isDenialRecorded(
  tenant: Tenant,
  check: PolicyCheck,
  fired: readonly FiredPolicy[],
  heldId: string | null,
): boolean {
  const denying = denyingPolicy(fired);
  if (!denying) return true;
  const identity = denialIdentity(check, denying.policy.id, heldId);
  return identity !== undefined && tenant.recordedDenials.has(JSON.stringify(identity));
}

/** Records a denial by a policy in the action's session. */
function recordDenial(
  tenant: Tenant,
  check: PolicyCheck,
  { denying: { policy }, heldId }: CheckEffect & { type: 'record_denial' },
  nowMs: number,
): void {
  const identity = denialIdentity(check, policy.id, heldId);
  if (identity) tenant.recordedDenials.add(JSON.stringify(identity));
  recordDecision(tenant, check, policyDecision(check, 'deny', policy, heldId), nowMs);
}

/** Returns the history of a check's session and agent, as a policy reads it. */
function historyOf(
  tenant: Tenant,
  { agentId, sessionId, actionId }: PolicyCheck,
  policy: PolicyRecord,
  nowMs: number,
): PolicyHistory {
  return {
    session: sessionId === undefined ? undefined : sessionHistory(tenant, sessionId, nowMs),
    agent: tenant.agentTools.get(agentId) ?? new AgentTools(),
    nowMs,
    actionId,
    policySinceMs: Date.parse(policy.updatedAt),
  };
}

/** `true` if a policy reads calls like the one that is checked. */
function isWatched(tenant: Tenant, { action: { toolName } }: PolicyCheck): boolean {
  return watchedCall(tenant, toolName) !== undefined;
}

/** Adds a call to the history of its session and its agent. */
function recordCall(
  tenant: Tenant,
  { agentId, sessionId, actionId, action }: PolicyCheck,
  isAllowed: boolean,
  nowMs: number,
): void {
  const watched = watchedCall(tenant, action.toolName);
  if (!watched) return;
  if (sessionId !== undefined) {
    const history = sessionHistory(tenant, sessionId, nowMs);
    if (isAllowed && watched.isUntrusted) history.addUntrusted(agentId, actionId);
    const call = {
      agentId,
      actionId,
      toolName: action.toolName,
      argumentsHash: action.argumentsHash,
      atMs: nowMs,
      outcome: isAllowed ? ('running' as const) : ('denied' as const),
      endedMs: 0,
      arguments: keptArguments(action.arguments, watched.argumentNames),
    };
    if (watched.inSession) history.add(call, watched.argumentNames);
    tenant.histories.set(sessionId, history);
  }
  if (!isAllowed || !watched.ofAgent) return;
  const agent = tenant.agentTools.get(agentId) ?? new AgentTools();
  agent.add(action.toolName);
  tenant.agentTools.set(agentId, agent);
}

/** Records the time of the first check of a session, when the history of its calls begins. */
function noteCheck(tenant: Tenant, { sessionId }: PolicyCheck, nowMs: number): void {
  if (sessionId !== undefined && !tenant.firstChecksMs.has(sessionId)) {
    tenant.firstChecksMs.set(sessionId, nowMs);
  }
}

function watchedCall(tenant: Tenant, toolName: string) {
  const readers = [...tenant.policies.values()].filter(
    ({ status, condition }) => status === 'active' && mayReadHistory(condition ?? ''),
  );
  return new WatchedCalls(readers.map(ruleOf)).ofTool(toolName, () => readsUntrusted(toolName));
}

function sessionHistory(tenant: Tenant, sessionId: string, nowMs: number): CallHistory {
  const history = tenant.histories.get(sessionId) ?? new CallHistory(begunMs(tenant, sessionId, nowMs));
  const ends = history.runningIds().flatMap((id): (readonly [string, CallEnd])[] => {
    const event = tenant.events.get(id.toLowerCase());
    if (event?.category !== toolCallCategory || event.sessionId !== sessionId) return [];
    const { toolName, argumentsHash, responseStatus } = event.payload as unknown as CallEnd;
    const receivedMs = Date.parse(event.receivedAt);
    return [[event.eventId, { agentId: event.agentId, toolName, argumentsHash, responseStatus, receivedMs }]];
  });
  history.end(new Map(ends));
  return history;
}

function begunMs(tenant: Tenant, sessionId: string, nowMs: number): number {
  const eventsMs = [...tenant.events.values()]
    .filter((event) => event.sessionId === sessionId)
    .map(({ sourceTimestamp }) => Date.parse(sourceTimestamp));
  return Math.min(nowMs, tenant.firstChecksMs.get(sessionId) ?? nowMs, ...eventsMs);
}
