import { checkPreference, headers as names, type SentOf } from '@actlog/protocol';
import { checkAction, checkAgain, checkDry } from '../policy/check.ts';
import { invalid } from '../service/api-error.ts';
import type { Call, Route } from '../service/call.ts';

/**
 * `POST /v1/policies/check`: delayed until a decision if the caller prefers to wait (RFC 7240, section 4.3),
 * or a dry run.
 */
export const checkPolicies: Route<'policies.check'> = async (call) => {
  const { tenant, body, headers, nowMs, responseHeaders, protoKeysRemoved } = call;
  if (protoKeysRemoved) throw invalid('', 'proto_key', 'contains a key named __proto__');
  const { waitSeconds, isDryRun } = checkPreference(headers.get(names.prefer) ?? undefined);
  if (isDryRun) {
    responseHeaders.set('preference-applied', 'dry-run');
    return checkDry(tenant, body, nowMs);
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
    const thenMs = isOver ? Math.max(untilMs, Date.now()) : Date.now();
    result = checkAgain(tenant, body, result.pendingActionId, keyId, thenMs);
  }
  clearTimeout(timer);
  return result;
}
