import type { StampName } from './risk-event.ts';
import type { DimensionId, LlmRiskId } from './risk-score.ts';
import type { RuleExample } from './rule-example.ts';
import type { Mark } from './session/mark.ts';
import { firstOf, type SessionView, stampTallyOf, tallyOf, toolName } from './session/session-view.ts';

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

/** Creates a match for the given events of the log; undefined if there are none. */
export function matched(
  events: readonly { readonly eventId: string }[],
  strength: number,
  explanation: string,
  count?: number,
): RuleMatch | undefined {
  if (events.length === 0) return undefined;
  const eventIds = [...new Set(events.map((event) => event.eventId))].slice(0, 5);
  return { strength, eventIds, count: Math.max(count ?? 0, eventIds.length), explanation };
}

/** Formats a count with its noun: "1 call", "3 calls". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Creates a match for the events that have a stamp; undefined if there are none. */
export function stamped(
  view: SessionView,
  stamp: StampName,
  strength: number,
  explanation: string,
): RuleMatch | undefined {
  const tally = stampTallyOf(view, stamp);
  if (tally.count === 0) return undefined;
  const first = { eventId: tally.firstId };
  const last = { eventId: tally.lastId };
  return matched(tally.count > 1 ? [first, last] : [first], strength, explanation, tally.count);
}

/**
 * Creates a match for the events that have a mark, which names the tool of the first one; undefined if there are none.
 *
 * @param says - what that tool did, the rest of the sentence
 * @param before - events that the match names, too
 */
export function marked(
  view: SessionView,
  mark: Mark,
  says: string,
  strength = 1,
  before: readonly { readonly eventId: string }[] = [],
): RuleMatch | undefined {
  const tally = tallyOf(view, mark);
  if (tally.count === 0) return undefined;
  const first = firstOf(tally);
  return matched([...before, first], strength, `${toolName(view, first.tool)} ${says}`, tally.count);
}
