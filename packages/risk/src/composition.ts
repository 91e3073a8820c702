import { ruleHash } from './baseline/baseline.ts';
import { shareOf } from './baseline/expectation.ts';
import { precedentFor } from './baseline/precedent.ts';
import type { Rule, RuleMatch } from './rule.ts';
import { RULES } from './rule-catalogue.ts';
import { type SessionView, tallyOf } from './session/session-view.ts';
import { ACTION_BITS } from './taxonomy/tag.ts';

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
const HABIT_DISCOUNT = 0.6;
// Matches below this weight are hints. All hints together weigh less than one rule with weight 0.5.
const HINT_WEIGHT = 0.13;
const HINTS_AT_MOST = -Math.log(1 - 0.45);

/** A rule with its precomputed, session-independent values. */
interface PreparedRule {
  readonly rule: Rule;
  readonly hash: number;
  /** Evidence of a match at full strength. */
  readonly evidence: number;
  /** Index of its cluster; -1 for none. */
  readonly cluster: number;
}

const CLUSTERS = [...new Set(RULES.flatMap(({ cluster }) => cluster ?? []))];
const PREPARED = RULES.map(
  (rule): PreparedRule => ({
    rule,
    hash: ruleHash(rule.id),
    evidence: -Math.log(1 - rule.weight),
    cluster: rule.cluster === undefined ? -1 : CLUSTERS.indexOf(rule.cluster),
  }),
);

function precedentIn(view: SessionView): number {
  if (view.expected === undefined) return 0;
  const acts = view.tools.flatMap(([hash, tool]) =>
    tool.bits & ACTION_BITS ? [[hash, tool.count] as const] : [],
  );
  return precedentFor(view.expected, acts, tallyOf(view, 'act').count);
}

/** Returns the matches of all rules in a session. */
export function findings(view: SessionView): Finding[] {
  const found: Finding[] = [];
  const precedent = precedentIn(view);
  for (const { rule, hash, evidence, cluster } of PREPARED) {
    const match = rule.detect(view);
    if (match === undefined || match.strength <= 0) continue;
    let strength = Math.min(1, match.strength);
    const { expected } = view;
    if (expected !== undefined && rule.habitual !== false) {
      const habit = shareOf(expected, (past) => past.rules.has(hash)) * expected.confidence;
      strength *= 1 - HABIT_DISCOUNT * Math.max(habit, rule.precedented ? precedent : 0);
    }
    found.push({ rule, match, strength, evidence: evidence * strength, cluster });
  }
  return found;
}

/** Combines findings so that the score without any one of them is cheap to compute. */
export class Composition {
  #strong = 0;
  #hints = 0;
  // The strongest finding of each cluster, and the evidence of the second strongest.
  readonly #first: (Finding | undefined)[] = [];
  readonly #second: number[] = [];

  /** @param found Findings; any fixed order. */
  constructor(found: readonly Finding[]) {
    for (const finding of found) {
      const { cluster, evidence } = finding;
      if (cluster < 0) {
        if (isHint(finding)) this.#hints += evidence;
        else this.#strong += evidence;
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
    for (const first of this.#first) this.#strong += first?.evidence ?? 0;
  }

  /** Score from 0 to 100: noisy-or, each cluster counted once, hints limited. */
  get score(): number {
    return scoreOf(this.#strong, this.#hints);
  }

  /** Returns the score without one of the findings. */
  without(finding: Finding): number {
    const { cluster, evidence } = finding;
    if (cluster >= 0) {
      if (this.#first[cluster] !== finding) return this.score;
      return scoreOf(this.#strong - evidence + (this.#second[cluster] as number), this.#hints);
    }
    if (isHint(finding)) return scoreOf(this.#strong, this.#hints - evidence);
    return scoreOf(this.#strong - evidence, this.#hints);
  }
}

function isHint(finding: Finding): boolean {
  return finding.rule.weight < HINT_WEIGHT;
}

function scoreOf(strong: number, hints: number): number {
  return 100 * (1 - Math.exp(-(strong + Math.min(hints, HINTS_AT_MOST))));
}

/** Rounds a score to two decimals, so that it is readable and the same on every machine. */
export function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
