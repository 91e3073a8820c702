import type { PolicyCheck } from '@actlog/protocol';
import type { PolicyRecord } from '../tenant/records.ts';

/** The actions that policies with a rate have counted. */
export class RateCounts {
  readonly #times = new Map<string, number[]>();

  /** Why a policy fires, or undefined while the action stays within its rate. */
  exceeded(policy: PolicyRecord, check: PolicyCheck, isCounted: boolean, nowMs: number): string | undefined {
    const { max, windowSeconds } = policy.rate ?? { max: Number.POSITIVE_INFINITY, windowSeconds: 0 };
    const times = this.#times.get(subjectOf(policy, check)) ?? [];
    const others = times.filter((timeMs) => timeMs > nowMs - windowSeconds * 1000).length;
    const actions = isCounted ? others : others + 1;
    return actions > max ? `it is action ${actions} in ${windowSeconds} seconds, and ${max} pass` : undefined;
  }

  /** Counts an action. */
  count(policy: PolicyRecord, check: PolicyCheck, nowMs: number): void {
    const subject = subjectOf(policy, check);
    this.#times.set(subject, [...(this.#times.get(subject) ?? []), nowMs]);
  }
}

/** What is counted together. An action without a session is counted by its agent. */
function subjectOf({ id, rate }: PolicyRecord, { agentId, sessionId }: PolicyCheck): string {
  if (rate?.per === 'tenant') return JSON.stringify([id]);
  const isBySession = rate?.per === 'session' && sessionId !== undefined;
  return JSON.stringify(isBySession ? [id, 'session', sessionId] : [id, 'agent', agentId]);
}
