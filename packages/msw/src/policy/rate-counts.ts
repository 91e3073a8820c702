import type { PolicyCheck } from '@actlog/protocol';
import type { PolicyRecord } from '../tenant/records.ts';

/** Counts actions for policies with a rate. */
export class RateCounts {
  readonly #times = new Map<string, number[]>();

  /** Returns the reason why a policy applies; undefined while the action is within the rate. */
  exceeded(policy: PolicyRecord, check: PolicyCheck, isCounted: boolean, nowMs: number): string | undefined {
    const { max, windowSeconds } = policy.rate ?? { max: Number.POSITIVE_INFINITY, windowSeconds: 0 };
    const times = this.#times.get(subjectOf(policy, check)) ?? [];
    const others = times.filter((timeMs) => timeMs > nowMs - windowSeconds * 1000).length;
    const actions = isCounted ? others : others + 1;
    return actions > max
      ? `it is action ${actions} in ${windowSeconds} seconds, and the limit is ${max}`
      : undefined;
  }

  /** Counts an action. */
  count(policy: PolicyRecord, check: PolicyCheck, nowMs: number): void {
    const subject = subjectOf(policy, check);
    this.#times.set(subject, [...(this.#times.get(subject) ?? []), nowMs]);
  }
}

/** Returns the key of the count. An action without a session counts for its agent. */
function subjectOf({ id, rate }: PolicyRecord, { agentId, sessionId }: PolicyCheck): string {
  if (rate?.per === 'tenant') return JSON.stringify([id]);
  const isBySession = rate?.per === 'session' && sessionId !== undefined;
  return JSON.stringify(isBySession ? [id, 'session', sessionId] : [id, 'agent', agentId]);
}
