import type { CheckedAction } from '@actlog/policy';
import { type CountedSubject, countAction, countedActions } from '../storage/policy-count-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { CompiledPolicy } from './compiled-policy.ts';

/** Milliseconds by which the clocks of servers may differ. */
const clocksDifferMs = 60_000;

/** Slices of a window. Counting is right to one slice: an action may count for that much longer. */
const slicesPerWindow = 60;

/**
 * The rate condition of one policy for one action. The look and the count belong into the same write transaction:
 * then of racing actions exactly `max` pass.
 */
export class RateCondition {
  readonly #rate: { readonly max: number; readonly windowSeconds: number };
  readonly #counted: CountedSubject;
  readonly #sliceMs: number;
  readonly #nowMs: number;

  /** @throws Error for a policy without a rate condition. */
  constructor(tenantId: number, { id, definition }: CompiledPolicy, action: CheckedAction, nowMs: number) {
    const { rate } = definition;
    if (!rate) throw new Error(`The policy ${id} has no rate condition.`);
    this.#rate = rate;
    this.#sliceMs = Math.max(1, Math.floor((rate.windowSeconds * 1000) / slicesPerWindow));
    this.#nowMs = nowMs;
    this.#counted = { tenantId, policyId: id, subject: subjectOf(rate.per, action) };
  }

  /** What to lock before the look: the count of this very subject. */
  get lockName(): string {
    return `rate ${this.#counted.policyId} ${this.#counted.subject}`;
  }

  /** Why the policy fires, or undefined while the action stays within the rate. */
  async exceeded(db: Database, isCounted: boolean): Promise<string | undefined> {
    const { max, windowSeconds } = this.#rate;
    const windowMs = windowSeconds * 1000;
    const sinceMs = this.#nowMs - windowMs - this.#sliceMs;
    // What was counted before a clock was set back lies ahead; far ahead, it must not use up the rate until then.
    const untilMs = this.#nowMs + windowMs + clocksDifferMs;
    const others = await countedActions(db, this.#counted, sinceMs, untilMs);
    const actions = isCounted ? others : others + 1;
    return actions > max ? `it is action ${actions} in ${windowSeconds} seconds, and ${max} pass` : undefined;
  }

  /** Counts the action. */
  async count(db: Database): Promise<void> {
    await countAction(db, this.#counted, Math.floor(this.#nowMs / this.#sliceMs) * this.#sliceMs);
  }
}

/** What is counted together. An action without a session is counted by its agent. */
function subjectOf(per: 'agent' | 'session' | 'tenant', { agentId, sessionId }: CheckedAction): string {
  if (per === 'tenant') return 'tenant';
  return per === 'session' && sessionId !== undefined ? `session:${sessionId}` : `agent:${agentId}`;
}
