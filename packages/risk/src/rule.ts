import type { LlmRiskId } from './dimensions.ts';
import type { DimensionId } from './risk-score.ts';
import type { RuleExample } from './rule-example.ts';
import type { SessionView } from './session-view.ts';

/** What a rule found in a session. */
export interface RuleMatch {
  /** How clearly, above 0 and at most 1. */
  readonly strength: number;
  /** Ids of the events it rests on, oldest first; the score shows the first five. */
  readonly eventIds: readonly string[];
  /** How many events it rests on, where the log does not hold them all. Default: the number of `eventIds`. */
  readonly count?: number;
  /** What was seen, in plain words: one sentence. */
  readonly explanation: string;
}

/** One signal of risk. */
export interface Rule {
  /** Stable name, `subject.signal`. */
  readonly id: string;
  readonly title: string;
  readonly dimension: DimensionId;
  /** Entries of the OWASP Top 10 for LLM Applications 2025 that it touches. */
  readonly llm: readonly LlmRiskId[];
  /** What it looks for and why that is a risk. */
  readonly signal: string;
  /** From 0 to 1: what a match at full strength scores alone, as a share of 100. */
  readonly weight: number;
  /** Rules with the same cluster read the same evidence: only the strongest of them counts in the session's score. */
  readonly cluster?: string;
  /** Whether one match proves the matter, so that it may reach `critical` alone. Default: false. */
  readonly deterministic?: boolean;
  /** Whether it counts less where the agent's past sessions matched it too. Default: true. */
  readonly habitual?: boolean;
  /**
   * Whether it counts less where past sessions took the same actions, as often: so for rules that hold an action
   * against what was read before it. Default: false.
   */
  readonly precedented?: boolean;
  /** When it matches without a risk. */
  readonly falsePositives: string;
  readonly recommendation: { readonly title: string; readonly text: string };
  /** What it finds in a session; undefined where nothing. */
  readonly detect: (view: SessionView) => RuleMatch | undefined;
  /** Sessions in which it must match. */
  readonly fires: readonly RuleExample[];
  /** Sessions close to those in which it must not match. */
  readonly quiet: readonly RuleExample[];
}
