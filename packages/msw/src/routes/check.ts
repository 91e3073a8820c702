import { checkPreference, headers as names, type SentOf } from '@actlog/protocol';
import { checkAction, checkAgain, checkDry } from '../policy/check.ts';
import { invalid } from '../service/api-error.ts';
import type { Call, Route } from '../service/call.ts';

/** `POST /v1/policies/check`, held until the decision where the caller prefers to wait (RFC 7240, section 4.3), or dry. */
export const checkPolicies: Route<'policies.check'> = async (call) => {
  const { tenant, body, headers, nowMs, answerHeaders, protoKeysRemoved } = call;
  if (protoKeysRemoved) throw invalid('', 'proto_key', 'holds a key named __proto__');
  const { waitSeconds, isDryRun } = checkPreference(headers.get(names.prefer) ?? undefined);
  if (isDryRun) {
    answerHeaders.set('preference-applied', 'dry-run');
    return checkDry(tenant, body, nowMs);
  }
  if (waitSeconds > 0) answerHeaders.set('preference-applied', `wait=${waitSeconds}`);
  const answer = checkAction(tenant, body, nowMs);
  return waitSeconds > 0 ? decided(call, answer, nowMs + waitSeconds * 1000) : answer;
};

/** Waits for the decision, until that time at most. */
async function decided(
  { tenant, body, nowMs, signal }: Call<'policies.check'>,
  first: SentOf<'policies.check'>,
  latestMs: number,
): Promise<SentOf<'policies.check'>> {
  let answer = first;
  if (!answer.expiresAt) return answer;
  const untilMs = Math.min(latestMs, Date.parse(answer.expiresAt));
  let isOver = false;
  // One timer, and not the clock, ends the wait: fake timers may move the one and leave the other.
  const end = () => {
    isOver = true;
    tenant.waiting.wake();
  };
  const timer = setTimeout(end, untilMs - nowMs);
  // Who is woken may be woken for something else, and looks again.
  while (answer.decision === 'require_approval' && answer.pendingActionId && !isOver) {
    if (signal.aborted || !tenant.pendingActions.has(answer.pendingActionId)) break;
    await tenant.waiting.wait(signal);
    const thenMs = isOver ? Math.max(untilMs, Date.now()) : Date.now();
    answer = checkAgain(tenant, body, answer.pendingActionId, thenMs);
  }
  clearTimeout(timer);
  return answer;
}
