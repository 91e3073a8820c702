import { checkPreference, headers as names } from '@actlog/protocol';
import { checkAction, checkAgain, checkDry } from '../policy/check.ts';
import type { Route } from '../service/call.ts';

/** `POST /v1/policies/check`, held until the decision where the caller prefers to wait (RFC 7240, section 4.3), or dry. */
export const checkPolicies: Route<'policies.check'> = async (call) => {
  const { tenant, body, headers, nowMs, signal, answerHeaders } = call;
  const { waitSeconds, isDryRun } = checkPreference(headers.get(names.prefer) ?? undefined);
  if (isDryRun) {
    answerHeaders.set('preference-applied', 'dry-run');
    return checkDry(tenant, body, nowMs);
  }
  if (waitSeconds > 0) answerHeaders.set('preference-applied', `wait=${waitSeconds}`);
  const untilMs = nowMs + waitSeconds * 1000;
  let answer = checkAction(tenant, body, nowMs);
  // Who is woken may be woken for something else, and looks again; every round ends at the deadline.
  while (answer.decision === 'require_approval' && answer.pendingActionId && answer.expiresAt) {
    const leftMs = Math.min(untilMs, Date.parse(answer.expiresAt)) - Date.now();
    if (leftMs <= 0 || signal.aborted || !tenant.pendingActions.has(answer.pendingActionId)) break;
    await tenant.waiting.wait(leftMs, signal);
    answer = checkAgain(tenant, body, answer.pendingActionId, Date.now());
  }
  return answer;
};
