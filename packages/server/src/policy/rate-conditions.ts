import type { CheckedAction } from '@actlog/policy';
import { type CountedSubject, countActions, countedActions } from '../storage/policy-count-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { CompiledPolicy } from './compiled-policy.ts';

/** Milliseconds by which the clocks of servers may differ. */
const clocksDifferMs = 60_000;

/** Slices of a window. Counting is right to one slice: an action may count for that much longer. */
const slicesPerWindow = 60;

/** The rate of one policy, for one action. */
interface Condition {
  readonly max: number;
  readonly windowSeconds: number;
  readonly sliceMs: number;
  readonly counted: CountedSubject;
}

/**
 * The rate conditions of policies for one action. The look and the count belong into the same write transaction: then
 * of racing actions exactly `max` pass. Each is one statement, because of a thousand nobody else could write meanwhile.
 */
export class RateConditions {
  readonly #tenantId: number;
  readonly #conditions: readonly Condition[];
  readonly #nowMs: number;

  /** Policies without a rate have no part in it. */
  constructor(tenantId: number, policies: readonly CompiledPolicy[], action: CheckedAction, nowMs: number) {
    this.#tenantId = tenantId;
    this.#nowMs = nowMs;
    this.#conditions = policies.flatMap(({ id, definition: { rate } }) =>
      rate === null ? [] : [{ ...rate, ...countingOf(id, rate, action) }],
    );
  }

  /** Whether no policy has a rate. */
  get areNone(): boolean {
    return this.#conditions.length === 0;
  }

  /** What to lock before the look: the counts of these very subjects. */
  get lockNames(): string[] {
    return this.#conditions.map(({ counted }) => `rate ${counted.policyId} ${counted.subject}`);
  }

  /** Why policies fire, by their ids. One whose rate the action stays within is not among them. */
  async exceeded(db: Database, isCounted: boolean): Promise<ReadonlyMap<string, string>> {
    const windows = this.#conditions.map(({ windowSeconds, sliceMs, counted }) => ({
      ...counted,
      sinceMs: this.#nowMs - windowSeconds * 1000 - sliceMs,
      // What was counted before a clock was set back lies ahead; far ahead, it must not use up the rate until then.
      untilMs: this.#nowMs + windowSeconds * 1000 + clocksDifferMs,
    }));
    const others = await countedActions(db, this.#tenantId, windows);
    const reasons = new Map<string, string>();
    for (const { max, windowSeconds, counted } of this.#conditions) {
      const actions = (others.get(counted.policyId) ?? 0) + (isCounted ? 0 : 1);
      if (actions <= max) continue;
      const why = `it is action ${actions} in ${windowSeconds} seconds, and ${max} pass`;
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

function countingOf(
  policyId: string,
  { windowSeconds, per }: NonNullable<CompiledPolicy['definition']['rate']>,
  action: CheckedAction,
): Pick<Condition, 'sliceMs' | 'counted'> {
  return {
    sliceMs: Math.max(1, Math.floor((windowSeconds * 1000) / slicesPerWindow)),
    counted: { policyId, subject: subjectOf(per, action) },
  };
}

/** What is counted together. An action without a session is counted by its agent. */
function subjectOf(per: 'agent' | 'session' | 'tenant', { agentId, sessionId }: CheckedAction): string {
  if (per === 'tenant') return 'tenant';
  return per === 'session' && sessionId !== undefined ? `session:${sessionId}` : `agent:${agentId}`;
}
