import type { PolicyEffect } from '@actlog/protocol';
import {
  byPrecedence,
  type DefinedPolicy,
  type FiredPolicy,
  firedPolicies,
  scheduledPolicies,
  verdictOn,
} from '../check/fired-policy.ts';
import { exceededRates, rateWindows, windowKey } from '../check/rate.ts';
import { CallHistory } from '../history/call-history.ts';
import { AgentTools } from '../history/folded-calls.ts';
import { type CallOutcome, keptArguments } from '../history/stored-call.ts';
import { WatchedCalls } from '../history/watched-calls.ts';
import type { CheckedAction } from '../match/checked-action.ts';
import type { PolicyHistory } from '../match/condition.ts';
import { explainMatch, matchPolicy, type PolicyRule, policyRule } from '../match/match-policy.ts';

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

/** A policy of a draft with its compiled rule. */
export interface DraftPolicy {
  readonly policy: DefinedPolicy;
  readonly rule: PolicyRule;
}

/**
 * Compiles the policies of a draft, and sorts them by precedence as the service does: those with the same precedence by
 * their ids.
 *
 * @throws ConditionError for an invalid condition. No condition is too costly.
 */
export function compileDraft(policies: readonly DefinedPolicy[]): readonly DraftPolicy[] {
  return policies
    .toSorted(
      (left, right) => byPrecedence(left.definition, right.definition) || (left.id < right.id ? -1 : 1),
    )
    .map((policy) => ({ policy, rule: policyRule(policy.definition, Number.POSITIVE_INFINITY) }));
}

/** Circumstances of an action that policies depend on. */
interface Circumstances {
  readonly history: PolicyHistory;
  /** Time of the action, in Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Returns the policies of a draft whose names and condition match an action and that apply at its time, in order of
 * precedence.
 */
export function matchingPolicies(
  draft: readonly DraftPolicy[],
  action: CheckedAction,
  { history, atMs }: Circumstances,
): FiredPolicy[] {
  const matching: FiredPolicy[] = [];
  for (const { policy, rule } of draft) {
    const why = matchPolicy(rule, action, history);
    if (why !== undefined) matching.push({ policy, why });
  }
  return [...scheduledPolicies(matching, atMs)];
}

/** A checked call of the session before the tried action. */
export interface EarlierCall {
  readonly toolName: string;
  /** Agent of the call. Default: the agent of the tried action. */
  readonly agentId?: string | undefined;
  /** Arguments that the agent showed; none by default. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Outcome of the call; `succeeded` by default. */
  readonly outcome?: CallOutcome | undefined;
  /** Time between the call and the tried action, in seconds; 0 by default. */
  readonly secondsAgo?: number | undefined;
}

/** Calls before a tried action, and the subset that policies read. */
interface EarlierCalls {
  readonly watches: WatchedCalls;
  /** Calls in the order in which they were made. */
  readonly calls: readonly EarlierCall[];
  /** `true` if a tool reads text of unknown authors. */
  readonly readsUntrusted: (toolName: string) => boolean;
}

/** Time of the tried action, in Unix milliseconds. Any time will do. */
const nowMs = Date.UTC(2026, 0, 1);

/**
 * Returns the history of an action after these calls, all of them known. Without calls and without a session, there is
 * no history, as in a check without `sessionId`.
 */
function trialHistory(
  action: CheckedAction,
  { watches, calls, readsUntrusted }: EarlierCalls,
): PolicyHistory {
  const session = new CallHistory(0);
  const agent = new AgentTools();
  for (const { toolName, agentId = action.agentId, outcome = 'succeeded', ...call } of inOrder(calls)) {
    const watched = watches.ofTool(toolName, () => readsUntrusted(toolName));
    if (!watched) continue;
    const isAllowed = outcome !== 'denied';
    const atMs = nowMs - (call.secondsAgo ?? 0) * 1000;
    if (watched.inSession) {
      const { argumentNames } = watched;
      const hasEnded = outcome === 'succeeded' || outcome === 'failed';
      session.add(
        {
          agentId,
          actionId: undefined,
          toolName,
          argumentsHash: '',
          atMs,
          outcome,
          endedMs: hasEnded ? atMs : 0,
          arguments: keptArguments(call.arguments, argumentNames),
        },
        argumentNames,
      );
    }
    if (isAllowed && watched.isUntrusted) session.addUntrusted(agentId, undefined);
    if (isAllowed && watched.ofAgent && agentId === action.agentId) agent.add(toolName);
  }
  const hasSession = action.sessionId !== undefined || calls.length > 0;
  return {
    session: hasSession ? session : undefined,
    agent,
    nowMs,
    actionId: undefined,
    policySinceMs: 0,
  };
}

function inOrder(calls: readonly EarlierCall[]): EarlierCall[] {
  return calls.toSorted((left, right) => (right.secondsAgo ?? 0) - (left.secondsAgo ?? 0));
}
