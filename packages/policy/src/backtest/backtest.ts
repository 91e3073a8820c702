import type { BacktestChange, BacktestResult, PolicyEffect } from '@actlog/protocol';
import {
  agentRevoked,
  type DefinedPolicy,
  type FiredPolicy,
  firedPolicies,
  verdictOn,
} from '../check/fired-policy.ts';
import { exceededRates, type RateWindow, rateWindows, windowKey } from '../check/rate.ts';
import { scheduleReason } from '../check/schedule.ts';
import { type CheckedAction, checkedAction } from '../match/checked-action.ts';
import type { PolicyHistory } from '../match/condition.ts';
import { matchPolicy } from '../match/match-policy.ts';
import { HistoryReplay, type PastDecision, pastVerdict } from './history-replay.ts';
import { compileDraft, type DraftPolicy, matchingPolicies } from './policy-trial.ts';

/** Decision of the draft about one action. */
export interface DraftVerdict {
  /** Decision by the rules of a check, where a condition that cannot be evaluated denies or holds, and never allows. */
  readonly decision: PolicyEffect;
  /** Policy that decides; null if none does. */
  readonly policyId: string | null;
  /** `false` if it depends on a condition that reads what was not shown or not kept. */
  readonly isCertain: boolean;
}

/** Options of {@link Backtest}. */
export interface BacktestOptions {
  /** `true` if a tool reads text of unknown authors, for `session.untrusted()`. Default: no tool does. */
  readonly readsUntrusted?: (toolName: string) => boolean;
  /**
   * Counts dry runs with an `actionId`, which are the calls of observing guards, in rates and in the history, as if
   * they had been enforced. Default: false, as a dry run counts nowhere.
   */
  readonly countDryRuns?: boolean;
}

/** A policy of the draft, and what its condition mentions. */
interface ReadingPolicy extends DraftPolicy {
  readonly readsArguments: boolean;
  readonly readsOrigins: boolean;
}

type MutableChange = { -readonly [Field in keyof BacktestChange]: BacktestChange[Field] } & {
  examples: string[];
};

/** Maximum number of examples of a change. */
const maxExamples = 3;

/**
 * Tries policies on decisions of the past. Add the decisions in the order in which they were made, oldest first,
 * because rates count them.
 */
export class Backtest {
  readonly #draft: readonly ReadingPolicy[];
  readonly #rates = new RateHistory();
  readonly #history: HistoryReplay;
  readonly #countsDryRuns: boolean;
  readonly #changes = new Map<string, MutableChange>();
  #decisions = 0;
  #changed = 0;
  #cannotTell = 0;

  /**
   * Compiles the policies.
   *
   * @param draft - all policies that would be active
   * @throws ConditionError for an invalid condition.
   */
  constructor(
    draft: readonly DefinedPolicy[],
    { readsUntrusted = () => false, countDryRuns = false }: BacktestOptions = {},
  ) {
    this.#countsDryRuns = countDryRuns;
    this.#draft = compileDraft(draft).map((compiled) => {
      const condition = compiled.policy.definition.condition ?? '';
      return {
        ...compiled,
        readsArguments: /\bargs\b/.test(condition),
        readsOrigins: /\borigins\b/.test(condition),
      };
    });
    this.#history = new HistoryReplay(
      this.#draft.map(({ rule }) => rule),
      readsUntrusted,
    );
  }

  /** `true` if a condition reads how earlier calls ended: pass `ended` with each decision. */
  get readsOutcomes(): boolean {
    return this.#draft.some(({ rule }) => rule.condition?.history?.readsOutcomes === true);
  }

  /** Compares one decision with the draft's decision, and returns the latter. */
  add(kept: PastDecision): DraftVerdict {
    const past = this.#countsDryRuns && kept.actionId !== null ? { ...kept, dryRun: false } : kept;
    const verdict = this.#verdictOn(past);
    const from = pastVerdict(past);
    this.#decisions += 1;
    if (!verdict.isCertain) this.#cannotTell += 1;
    else if (verdict.decision !== from) this.#note(past, from, verdict);
    return verdict;
  }

  /** Returns the result so far. */
  result(): BacktestResult {
    return {
      decisions: this.#decisions,
      unchanged: this.#decisions - this.#changed - this.#cannotTell,
      changed: this.#changed,
      cannotTell: this.#cannotTell,
      changes: [...this.#changes.values()].toSorted((left, right) => right.count - left.count),
    };
  }

  #verdictOn(past: PastDecision): DraftVerdict {
    const action = actionOf(past);
    const atMs = Date.parse(past.decidedAt);
    const facts = { ...this.#history.factsAt(past), policySinceMs: 0 };
    const matching = matchingPolicies(this.#draft, action, { history: facts, atMs });
    // Nobody knows if the agent would still be revoked, so it stays so.
    if (past.matched[0]?.policyId === agentRevoked.policy.id) matching.unshift(agentRevoked);
    const uncertain = new Set<string>();
    for (const draft of this.#draft) {
      if (this.#isUnknown(draft, action, past, facts)) uncertain.add(draft.policy.id);
    }
    const windows = rateWindows(matching, action, atMs);
    const isCounted = this.#rates.hasCounted(past);
    const exceeded = exceededRates(windows, this.#rates.countedIn(windows), isCounted);
    const { decision, decidedBy } = verdictOn(firedPolicies(matching, exceeded));
    if (!past.dryRun && decision !== 'deny' && !isCounted) this.#rates.count(past, windows);
    this.#history.record(past, decision);
    return {
      decision,
      policyId: decidedBy?.policy.id ?? null,
      isCertain: uncertain.size === 0 || this.#isDecidedAnyway(uncertain, decidedBy),
    };
  }

  /** `true` if a policy's names match, and its condition cannot be evaluated for lack of what was not shown or kept. */
  #isUnknown(
    { policy, rule, readsArguments, readsOrigins }: ReadingPolicy,
    action: CheckedAction,
    past: PastDecision,
    facts: PolicyHistory,
  ): boolean {
    const { condition } = rule;
    const isMissing = (readsArguments && past.arguments === null) || (readsOrigins && past.origins === null);
    if (!condition || !(condition.history || isMissing)) return false;
    if (matchPolicy({ ...rule, condition: undefined }, action) === undefined) return false;
    const { schedule, effect } = policy.definition;
    if (schedule != null && scheduleReason(schedule, effect, facts.nowMs) === undefined) return false;
    if (this.#history.isUnknown(past, condition.history)) return true;
    try {
      condition.holds(action, facts);
      return false;
    } catch {
      return true;
    }
  }

  /** `true` if a policy with a known match takes precedence over all policies whose match is unknown. */
  #isDecidedAnyway(uncertain: ReadonlySet<string>, decidedBy: FiredPolicy | undefined): boolean {
    if (decidedBy === agentRevoked) return true;
    const first = this.#draft.find(
      ({ policy: { id, definition } }) =>
        definition.mode === 'enforce' && (uncertain.has(id) || id === decidedBy?.policy.id),
    );
    return first === undefined || !uncertain.has(first.policy.id);
  }

  #note(past: PastDecision, from: PolicyEffect, { decision: to, policyId }: DraftVerdict): void {
    const { agentId, toolName } = past;
    const key = JSON.stringify([agentId, toolName, from, to, policyId]);
    let change = this.#changes.get(key);
    if (!change) {
      change = { agentId, toolName, from, to, policyId, count: 0, examples: [] };
      this.#changes.set(key, change);
    }
    change.count += 1;
    this.#changed += 1;
    if (change.examples.length < maxExamples) change.examples.push(past.id);
  }
}

function actionOf(past: PastDecision): CheckedAction {
  const action = checkedAction({
    agentId: past.agentId,
    sessionId: past.sessionId ?? undefined,
    action: {
      toolName: past.toolName,
      argumentsHash: past.argumentsHash,
      arguments: past.arguments ?? undefined,
      origins: past.origins ?? undefined,
    },
    framework: past.framework ?? undefined,
    environment: past.environment ?? undefined,
    principal: past.principal ?? undefined,
    subagent: past.subagent ?? undefined,
    parentAgentIds: past.parentAgentIds && [...past.parentAgentIds],
    identity: past.identity,
  });
  return past.argumentsOmitted ? { ...action, arguments: undefined } : action;
}

/** Actions that rates have counted in the course of a backtest. */
class RateHistory {
  /** Number of actions by the start of their slice, for each policy and subject. */
  readonly #slices = new Map<string, Map<number, number>>();
  /** Named actions that were counted, each once. */
  readonly #named = new Set<string>();

  /** Returns the number of actions in each window, by key. */
  countedIn(windows: readonly RateWindow[]): ReadonlyMap<string, number> {
    return new Map(windows.map((window) => [windowKey(window), this.#sum(window)]));
  }

  /** `true` if an earlier check of the same named action was counted. */
  hasCounted(past: PastDecision): boolean {
    return past.actionId !== null && this.#named.has(nameOf(past));
  }

  /** Counts an action in its windows. */
  count(past: PastDecision, windows: readonly RateWindow[]): void {
    if (windows.length === 0) return;
    if (past.actionId !== null) this.#named.add(nameOf(past));
    for (const window of windows) {
      const key = windowKey(window);
      let slices = this.#slices.get(key);
      if (!slices) {
        slices = new Map();
        this.#slices.set(key, slices);
      }
      slices.set(window.sliceMs, (slices.get(window.sliceMs) ?? 0) + 1);
    }
  }

  #sum(window: RateWindow): number {
    const slices = this.#slices.get(windowKey(window));
    if (!slices) return 0;
    let sum = 0;
    for (const [sliceMs, actions] of slices) {
      // Decisions come in order of time, so a slice that has left the window never returns.
      if (sliceMs <= window.sinceMs) slices.delete(sliceMs);
      else if (sliceMs <= window.untilMs) sum += actions;
    }
    return sum;
  }
}

function nameOf({ agentId, actionId }: PastDecision): string {
  return `${agentId} ${actionId}`;
}
