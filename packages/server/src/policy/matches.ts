import { type CheckedAction, type FiredPolicy, matchPolicy, needsHistory } from '@actlog/policy';
import { callerGone, type TenantTurns, type Turn } from '../lib/tenant-turns.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import type { PolicySet } from './policy-set.ts';

/** Duration after which an evaluation yields, in milliseconds. A single policy can exceed it by a few. */
const sliceMs = 1;

/** Error thrown inside a transaction when evaluating policies there would take too long. */
class UnfinishedMatchingError extends Error {
  override readonly name = 'UnfinishedMatchingError';
}

/** Resumable evaluation of one policy set for one action. */
class Matching {
  readonly set: PolicySet;
  readonly fired: FiredPolicy[] = [];
  readonly readers: CompiledPolicy[] = [];
  readonly #action: CheckedAction;
  #next = 0;

  constructor(set: PolicySet, action: CheckedAction) {
    this.set = set;
    this.#action = action;
  }

  /** Evaluates policies for one slice of time. Returns `true` when all are evaluated. */
  advance(): boolean {
    const { policies } = this.set;
    const endMs = performance.now() + sliceMs;
    while (this.#next < policies.length) {
      const policy = policies[this.#next] as CompiledPolicy;
      this.#next += 1;
      if (needsHistory(policy.rule, this.#action)) {
        this.readers.push(policy);
      } else {
        const why = matchPolicy(policy.rule, this.#action);
        if (why !== undefined) this.fired.push({ policy, why });
      }
      if (performance.now() >= endMs && this.#next < policies.length) return false;
    }
    return true;
  }
}

/** Result of evaluating a policy set for an action, as far as that needs no history. */
export interface MatchedSet {
  /** Policies that match, in order of precedence. */
  readonly fired: readonly FiredPolicy[];
  /** Policies whose names match and whose condition reads the history. */
  readonly readers: readonly CompiledPolicy[];
}

/**
 * The policies that match one action. A set is evaluated once, because a check often needs a read and then a write, and
 * a waiting check runs repeatedly. Small sets are evaluated inside the transaction. Large ones are evaluated in slices
 * outside, because a transaction on SQLite blocks the requests of all tenants.
 */
export class Matches {
  #matching: Matching | undefined;
  #isKept = false;

  /** Begins another round, in which changed policies are evaluated again. */
  begin(): void {
    this.#isKept = false;
  }

  /**
   * Returns the matching policies of a set, and those that need the history. The action must be the same in all calls.
   *
   * @throws UnfinishedMatchingError when evaluation exceeds a slice: leave the transaction, call `finish`, and start the
   *   transaction again.
   */
  of(set: PolicySet, action: CheckedAction): MatchedSet {
    if (!this.#isKept && this.#matching?.set !== set) this.#matching = new Matching(set, action);
    const matching = this.#matching as Matching;
    if (!matching.advance()) throw new UnfinishedMatchingError();
    return matching;
  }

  /**
   * Evaluates the remaining policies in slices. The result is valid until the next round: the policies were read after
   * the request arrived, so a change made meanwhile counts as made after the check.
   *
   * @throws ApiError `OVERLOADED` when `disconnected` aborts.
   */
  async finish(turn: Turn, disconnected: AbortSignal): Promise<void> {
    do {
      await turn();
      if (disconnected.aborted) throw callerGone();
    } while (this.#matching?.advance() === false);
    this.#isKept = true;
  }
}

/**
 * Runs one round of a check in the tenant's turn. If evaluating the policies takes too long for a transaction, they are
 * evaluated outside, and the round is run again with the result.
 *
 * @param disconnected - returns a signal that aborts when the caller disconnects
 */
export function matchInTurns<Result>(
  tenantTurns: TenantTurns,
  tenantId: number,
  matches: Matches,
  disconnected: () => AbortSignal,
  round: () => Promise<Result>,
): Promise<Result> {
  const work = async (turn: Turn) => {
    matches.begin();
    try {
      return await round();
    } catch (error) {
      if (!(error instanceof UnfinishedMatchingError)) throw error;
    }
    await matches.finish(turn, disconnected());
    return round();
  };
  return tenantTurns.run(tenantId, work, disconnected);
}
