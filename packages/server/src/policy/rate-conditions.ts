import type { CheckedAction } from '@actlog/policy';
import { type CountedSubject, countActions, countedActions } from '../storage/stores/policy-count-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { CompiledPolicy } from './compiled-policy.ts';

/** Maximum difference between the clocks of servers, in milliseconds. */
const clockSkewMs = 60_000;

/** Slices per window. Counts are exact to one slice: an action may count for up to one slice too long. */
const slicesPerWindow = 60;

/** Rate of one policy, for one action. */
interface Condition {
  readonly max: number;
  readonly windowSeconds: number;
  readonly sliceMs: number;
  readonly counted: CountedSubject;
}

/**
 * Rate conditions of policies for one action. Run the check and the count in the same write transaction, so that of
 * racing actions exactly `max` pass. Each is a single statement, because a thousand would block other writers.
 */
export class RateConditions {
  readonly #tenantId: number;
  readonly #conditions: readonly Condition[];
  readonly #nowMs: number;

  /** @param policies - those without a rate are ignored */
  constructor(tenantId: number, policies: readonly CompiledPolicy[], action: CheckedAction, nowMs: number) {
    this.#tenantId = tenantId;
    this.#nowMs = nowMs;
    this.#conditions = policies.flatMap(({ id, definition: { rate } }) =>
      rate === null ? [] : [{ ...rate, ...counterOf(id, rate, action) }],
    );
  }

  /** `true` if no policy has a rate. */
  get isEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  /** Names to lock before the check: one per counted subject. */
  get lockNames(): string[] {
    return this.#conditions.map(({ counted }) => `rate ${counted.policyId} ${counted.subject}`);
  }

  /** Returns the reasons of the policies whose rate is exceeded, by policy id. */
  async exceeded(db: Database, isCounted: boolean): Promise<ReadonlyMap<string, string>> {
    const windows = this.#conditions.map(({ windowSeconds, sliceMs, counted }) => ({
      ...counted,
      sinceMs: this.#nowMs - windowSeconds * 1000 - sliceMs,
      // Slices counted before a clock was set back lie in the future. Those far ahead must not use up the rate.
      untilMs: this.#nowMs + windowSeconds * 1000 + clockSkewMs,
    }));
    const others = await countedActions(db, this.#tenantId, windows);
    const reasons = new Map<string, string>();
    for (const { max, windowSeconds, counted } of this.#conditions) {
      const actions = (others.get(counted.policyId) ?? 0) + (isCounted ? 0 : 1);
      if (actions <= max) continue;
      const why = `it is action ${actions} in ${windowSeconds} seconds, and the limit is ${max}`;
      reasons.set(counted.policyId, why);
    }
    return reasons;
  }

  /** Counts the action. */
  async count(db: Database): Promise<void> {
    const slices = this.#conditions.map(({ sliceMs, counted }) => ({
      ...counted,
      sliceMs: Math.floor(this.#nowMs / sliceMs) * sliceMs,
    }));
    await countActions(db, this.#tenantId, slices);
  }
}

function counterOf(
  policyId: string,
  { windowSeconds, per }: NonNullable<CompiledPolicy['definition']['rate']>,
  action: CheckedAction,
): Pick<Condition, 'sliceMs' | 'counted'> {
  return {
    sliceMs: Math.max(1, Math.floor((windowSeconds * 1000) / slicesPerWindow)),
    counted: { policyId, subject: subjectOf(per, action) },
  };
}

/** Returns the subject of a count. An action without a session is counted for its agent. */
function subjectOf(per: 'agent' | 'session' | 'tenant', { agentId, sessionId }: CheckedAction): string {
  if (per === 'tenant') return 'tenant';
  return per === 'session' && sessionId !== undefined ? `session:${sessionId}` : `agent:${agentId}`;
}
