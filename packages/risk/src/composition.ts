import { type Expectation, fullConfidenceSessions, ruleHash, shareOf } from './baseline/baseline.ts';
import type { Rule, RuleMatch } from './rule.ts';
import { allRules } from './rule-catalogue.ts';
import { type SessionView, tallyOf } from './session/session-view.ts';
import { actionBits } from './taxonomy/tag.ts';

/** A matched rule and the weight of its match. */
export interface Finding {
  readonly rule: Rule;
  readonly match: RuleMatch;
  /** Strength of the match after the discount for habitual matches: 0 to 1. */
  readonly strength: number;
  /**
   * Evidence: the negative logarithm of the remaining probability that nothing is wrong. Evidence of several
   * rules adds up.
   */
  readonly evidence: number;
  /** Index of the rule's cluster; -1 for none. */
  readonly cluster: number;
}

// Habitual matches weigh less but never nothing, so that a poisoned baseline cannot silence a rule.
const habitDiscount = 0.6;
// Matches below this weight are hints. All hints together weigh less than one rule with weight 0.5.
const hintWeight = 0.13;
const hintsAtMost = -Math.log(1 - 0.45);
/** Circumstances beyond this limit count little: how an agent works is hardly enough for `high` alone. */
const circumstancesLimit = 1.6;
/** The limit for agents whose history is known for sure, in which circumstances without a precedent say more. */
const knownLimit = 2.4;
const beyondLimit = 0.25;

/**
 * Returns the limit of circumstances. It rises with the history only as far as the discount for habits makes up for it, so
 * that learning from a session never raises the score of a later one in which the same happens.
 */
function limitOf(confidence: number): number {
  const discount = habitDiscount * confidence;
  const made = (beyondLimit / (1 - beyondLimit)) * (discount / (1 - discount));
  return Math.min(knownLimit, circumstancesLimit / (1 - made));
}

/** A rule with its precomputed, session-independent values. */
interface PreparedRule {
  readonly rule: Rule;
  readonly hash: number;
  /** Evidence of a match at full strength. */
  readonly evidence: number;
  /** Index of its cluster; -1 for none. */
  readonly cluster: number;
}

const clusters = [...new Set(allRules.flatMap(({ cluster }) => cluster ?? []))];
const prepared = allRules.map(
  (rule): PreparedRule => ({
    rule,
    hash: ruleHash(rule.id),
    evidence: -Math.log(1 - rule.weight),
    cluster: rule.cluster === undefined ? -1 : clusters.indexOf(rule.cluster),
  }),
);

function precedentIn(view: SessionView): number {
  if (view.expected === undefined) return 0;
  const acts = view.tools.flatMap(([hash, tool]) =>
    tool.bits & actionBits ? [[hash, tool.count] as const] : [],
  );
  const kept = acts.reduce((sum, [, calls]) => sum + calls, 0);
  // An action of a tool that was dropped has no precedent.
  return kept < tallyOf(view, 'act').count ? 0 : precedentFor(view.expected, acts);
}

/** Returns the matches of all rules in a session. */
export function findings(view: SessionView): Finding[] {
  const found: Finding[] = [];
  const precedent = precedentIn(view);
  for (const { rule, hash, evidence, cluster } of prepared) {
    const match = rule.detect(view);
    if (match === undefined || match.strength <= 0) continue;
    let strength = Math.min(1, match.strength);
    const { expected } = view;
    if (expected !== undefined && rule.habitual !== false) {
      const habit = shareOf(expected, (past) => past.rules.has(hash)) * expected.confidence;
      strength *= 1 - habitDiscount * Math.max(habit, rule.precedented ? precedent : 0);
    }
    found.push({ rule, match, strength, evidence: evidence * strength, cluster });
  }
  return found;
}

/** Evidence of the findings that have a limit together. */
interface Limited {
  hints: number;
  circumstantial: number;
}

/** Combines findings so that the evidence without any one of them is cheap to compute. */
export class Composition {
  #strong = 0;
  readonly #limited: Limited = { hints: 0, circumstantial: 0 };
  // The strongest finding of each cluster, and the evidence of the second strongest.
  readonly #first: (Finding | undefined)[] = [];
  readonly #second: number[] = [];

  readonly #limit: number;

  /**
   * @param found - findings, in any fixed order
   * @param confidence - of the expectation from the agent's history; 0 without a history
   */
  constructor(found: readonly Finding[], confidence: number) {
    this.#limit = limitOf(confidence);
    for (const finding of found) {
      const { cluster, evidence } = finding;
      if (cluster < 0) {
        this.#add(finding, evidence);
        continue;
      }
      const first = this.#first[cluster];
      if (first === undefined || evidence > first.evidence) {
        this.#second[cluster] = first?.evidence ?? 0;
        this.#first[cluster] = finding;
      } else {
        this.#second[cluster] = Math.max(this.#second[cluster] as number, evidence);
      }
    }
    for (const first of this.#first) if (first !== undefined) this.#add(first, first.evidence);
  }

  #add({ rule }: Finding, evidence: number): void {
    if (rule.circumstantial) this.#limited.circumstantial += evidence;
    else if (rule.weight < hintWeight) this.#limited.hints += evidence;
    else this.#strong += evidence;
  }

  /** Evidence of all findings, each cluster counted once, with the limits of hints and circumstances. */
  get evidence(): number {
    return this.#total(this.#strong, this.#limited);
  }

  /** Returns the evidence without one of the findings. */
  without({ rule, cluster, evidence }: Finding): number {
    let less = evidence;
    if (cluster >= 0) {
      if (this.#first[cluster]?.rule !== rule) return this.evidence;
      less -= this.#second[cluster] as number;
    }
    const { hints, circumstantial } = this.#limited;
    if (rule.circumstantial)
      return this.#total(this.#strong, { hints, circumstantial: circumstantial - less });
    if (rule.weight < hintWeight) return this.#total(this.#strong, { hints: hints - less, circumstantial });
    return this.#total(this.#strong - less, this.#limited);
  }

  #total(strong: number, { hints, circumstantial }: Limited): number {
    const beyond = Math.max(0, circumstantial - this.#limit) * beyondLimit;
    return strong + Math.min(hints, hintsAtMost) + Math.min(circumstantial, this.#limit) + beyond;
  }
}

/**
 * Returns how far past sessions took the same actions as this one, with the same tools and as often: from 0 (one of them
 * never) to 1 (all, with at least three past sessions). The action with the least precedent decides, so that usual
 * actions around an unusual one do not excuse it.
 *
 * Of the near sessions sorted by similarity, the one at the end of the first third decides. Of three sessions that is
 * the best; of five the second best, so that a single planted session does not set a precedent.
 *
 * @param acts - hash and number of calls of each tool that the session acts with
 */
export function precedentFor(
  { near }: Expectation,
  acts: readonly (readonly [tool: number, calls: number])[],
): number {
  if (acts.length === 0) return 0;
  const shares = near.map((past) => {
    let least = 1;
    for (const [tool, calls] of acts) least = Math.min(least, (past.tools.get(tool) ?? 0) / calls);
    return least;
  });
  const deciding = shares.sort((a, b) => b - a)[Math.ceil(shares.length / 3) - 1] as number;
  return deciding * Math.min(1, near.length / fullConfidenceSessions);
}
