import type { PolicyEffect } from '@actlog/protocol';
import { type DefinedPolicy, firedPolicies, verdictOn } from '../check/fired-policy.ts';
import { exceededRates, rateWindows, windowKey } from '../check/rate.ts';
import { WatchedCalls } from '../history/watched-calls.ts';
import type { CheckedAction } from '../match/checked-action.ts';
import { explainMatch } from '../match/explain-match.ts';
import { compileDraft, type DraftPolicy, matchingPolicies } from './draft-policies.ts';
import { type EarlierCall, trialHistory } from './trial-history.ts';

/** One policy's part in a trial. */
export interface TriedPolicy {
  readonly policy: DefinedPolicy;
  /** `true` if the policy applies to the action: it matches, and its rate, if any, is exceeded. */
  readonly applies: boolean;
  /** Reason why it applies or does not apply. It can quote values of the action. */
  readonly why: string;
}

/** Decision of a set of policies about one action. */
export interface TrialVerdict {
  readonly decision: PolicyEffect;
  /** The deciding policy; undefined if none decided and the action is allowed by default. */
  readonly decidedBy: DefinedPolicy | undefined;
  /** Returns all policies in order of precedence, with the reason of each. */
  explain(): TriedPolicy[];
}

/** Options of {@link PolicyTrial}. */
export interface PolicyTrialOptions {
  /** `true` if a tool reads text of unknown authors, for `session.untrusted()`. Default: no tool does. */
  readonly readsUntrusted?: (toolName: string) => boolean;
}

/** Time of a tried action, and what happened before it. */
export interface TrialContext {
  /**
   * Time of the action for schedules, in Unix milliseconds; by default the start of Thursday, January 1, 1970, in UTC.
   */
  readonly atMs?: number | undefined;
  /** Number of earlier actions in the window of each matching rate; 0 by default. */
  readonly actions?: number | undefined;
  /** Earlier calls of the session, for conditions on the history; none by default. */
  readonly calls?: readonly EarlierCall[] | undefined;
}

/** Tries a set of policies on single actions, as the service would decide about them. */
export class PolicyTrial {
  readonly #draft: readonly DraftPolicy[];
  readonly #watches: WatchedCalls;
  readonly #readsUntrusted: (toolName: string) => boolean;

  /**
   * Compiles the policies.
   *
   * @param policies - all policies that would be active
   * @throws ConditionError for an invalid condition.
   */
  constructor(policies: readonly DefinedPolicy[], { readsUntrusted = () => false }: PolicyTrialOptions = {}) {
    this.#draft = compileDraft(policies);
    this.#watches = new WatchedCalls(this.#draft.map(({ rule }) => rule));
    this.#readsUntrusted = readsUntrusted;
  }

  /** Returns the decision about an action. */
  check(
    action: CheckedAction,
    { actions: earlierActions = 0, calls = [], atMs = 0 }: TrialContext = {},
  ): TrialVerdict {
    const readsUntrusted = this.#readsUntrusted;
    const history = trialHistory(action, { watches: this.#watches, calls, readsUntrusted });
    const matching = matchingPolicies(this.#draft, action, { history, atMs });
    // Nothing is counted, so the time of the check does not matter.
    const windows = rateWindows(matching, action, 0);
    const counted = new Map(windows.map((window) => [windowKey(window), earlierActions]));
    const fired = firedPolicies(matching, exceededRates(windows, counted, false));
    const { decision, decidedBy } = verdictOn(fired);
    const explain = (): TriedPolicy[] => {
      const whys = new Map(fired.map(({ policy, why }) => [policy.id, why]));
      return this.#draft.map(({ policy, rule }) => {
        const firedWhy = whys.get(policy.id);
        if (firedWhy !== undefined) return { policy, applies: true, why: firedWhy };
        const { matches, why } = explainMatch(rule, action, history);
        if (matches && !matching.some((one) => one.policy.id === policy.id)) {
          return { policy, applies: false, why: `${why}; the time is not within the schedule` };
        }
        const max = policy.definition.rate?.max;
        const reason = matches
          ? `${why}; it is action ${earlierActions + 1}, within the limit of ${max}`
          : why;
        return { policy, applies: false, why: reason };
      });
    };
    return { decision, decidedBy: decidedBy?.policy, explain };
  }
}
