import type { LlmRiskId } from './dimensions.ts';
import type { DimensionId } from './risk-score.ts';
import type { RuleExample } from './rule-example.ts';
import type { Mark } from './session/mark.ts';
import type { SessionView } from './session/session-view.ts';
import type { StampName } from './stamp-name.ts';

/** Match of a rule in a session. */
export interface RuleMatch {
  /** Strength of the match, above 0 and at most 1. */
  readonly strength: number;
  /** Ids of the matched events, oldest first; the score contains the first five. */
  readonly eventIds: readonly string[];
  /** Number of matched events if the log does not contain all of them. Default: the number of `eventIds`. */
  readonly count?: number;
  /** Description of the finding in one plain sentence. */
  readonly explanation: string;
}

/** A rule that detects one signal of risk. */
export interface Rule {
  /** Stable id, `subject.signal`. */
  readonly id: string;
  readonly title: string;
  readonly dimension: DimensionId;
  /** Related entries of the OWASP Top 10 for LLM Applications 2025. */
  readonly llm: readonly LlmRiskId[];
  /** Description of the signal and why it is a risk. */
  readonly signal: string;
  /** Score of a match at full strength alone, from 0 to 1 as a share of 100. */
  readonly weight: number;
  /**
   * Kinds of events that the match counts as its actions, without the reads before them. If all of them are of one tool,
   * a person can mark the match as expected for that tool alone. Default: none.
   */
  readonly acts?: readonly (Mark | StampName)[];
  /**
   * Rules with the same cluster use the same evidence: only the strongest of them counts in the session's
   * score.
   */
  readonly cluster?: string;
  /** `true` if one match is conclusive, so that it can reach `critical` alone. Default: false. */
  readonly deterministic?: boolean;
  /** `true` if the match counts less when the agent's past sessions also matched. Default: true. */
  readonly habitual?: boolean;
  /**
   * `true` if the match counts less when past sessions took the same actions as often. For rules that relate an action
   * to earlier reads. Default: false.
   */
  readonly precedented?: boolean;
  /**
   * `true` for a signal that benign work shows as well, because it describes how an agent works and not what aimed it.
   * All such signals of a session together have a limit. Default: false.
   */
  readonly circumstantial?: boolean;
  /** Situations in which it matches without a risk. */
  readonly falsePositives: string;
  readonly recommendation: { readonly title: string; readonly text: string };
  /** Returns the match in a session; undefined if there is none. */
  readonly detect: (view: SessionView) => RuleMatch | undefined;
  /** Example sessions in which it must match. */
  readonly fires: readonly RuleExample[];
  /** Similar example sessions in which it must not match. */
  readonly quiet: readonly RuleExample[];
}
