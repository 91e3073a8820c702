import type { RiskLevel } from './schemas/risk.ts';

/** Kind of a judgment: `expected` for what is normal, `attack` for a confirmed attack. */
export type RiskJudgmentKind = 'expected' | 'attack';

/**
 * Scope of a judgment. A factor of a score is within it if it matches every part that is given; null and a missing part
 * match any.
 */
export interface RiskJudgmentScope {
  /** Only this session. */
  readonly sessionId?: string | null | undefined;
  /** Only sessions in which this agent acted; for `expected`, in which it acted alone. */
  readonly agentId?: string | null | undefined;
  /** Only factors about this tool; for `expected`, about no other tool. */
  readonly toolName?: string | null | undefined;
  /** Only factors of this rule, such as `goal.foreign-arguments`. */
  readonly ruleId?: string | null | undefined;
}

/** A judgment to save or to preview. */
export interface RiskJudgmentDraft {
  readonly kind: RiskJudgmentKind;
  /** At least one part. `expected` needs a rule, unless it is about one session. */
  readonly scope: RiskJudgmentScope;
  /** Reason, for those who read the list and the audit log: 1 to 1,000 characters. */
  readonly reason: string;
  /** Time after which new events are scored without it: ISO 8601, in the future. Default: it has no end. */
  readonly expiresAt?: string | undefined;
  /** Days of the past that it also applies to, 0 to 90; not for a judgment about one session. Default: 30. */
  readonly pastDays?: number | undefined;
}

/** A saved judgment of a person about what raises the risk of sessions. */
export interface RiskJudgment {
  readonly id: string;
  readonly kind: RiskJudgmentKind;
  readonly scope: { readonly [Part in keyof RiskJudgmentScope]-?: string | null };
  readonly reason: string;
  /** `active`; `expired` after `expiresAt`; or `ended` by a person. */
  readonly status: 'active' | 'expired' | 'ended';
  /** Key (`key_…`) or signed-in person (`usr_…`) that saved it. */
  readonly createdBy: string;
  /** The person, where the deployment knows who it was; null otherwise. */
  readonly createdByPrincipal: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** Sessions whose newest event is older keep their scores; null if it applies to all. */
  readonly appliesFrom: string | null;
  /** Null if it has no end. */
  readonly expiresAt: string | null;
  /** Null unless a person ended it. */
  readonly endedAt: string | null;
  readonly endedBy: string | null;
  readonly endedByPrincipal: string | null;
  /** `true` if it no longer applies to past sessions either. */
  readonly isUndone: boolean;
}

/** Score and level of a session. */
export interface RiskValue {
  readonly score: number;
  readonly level: RiskLevel;
}

/** Effect of a judgment on past sessions. */
export interface RiskJudgmentEffect {
  /** Sessions within reach of the judgment, whose scores were computed with and without it. */
  readonly examined: number;
  /** `false` if there are more; the judgment does not apply to those. */
  readonly isComplete: boolean;
  /** Sessions whose scores fall, and rise. */
  readonly lowered: number;
  readonly raised: number;
  /** Sessions that change their level, most first. */
  readonly levels: readonly { readonly from: RiskLevel; readonly to: RiskLevel; readonly sessions: number }[];
  /** At most ten sessions that change most. */
  readonly largest: readonly {
    readonly sessionId: string;
    readonly agentId: string;
    readonly before: RiskValue;
    readonly after: RiskValue;
  }[];
}

/** Response of `POST /server/v1/judgments` of the actlog server, and of ending a judgment. */
export interface RiskJudgmentChange {
  readonly judgment: RiskJudgment;
  readonly effect: RiskJudgmentEffect;
}

/** Response of `GET /server/v1/judgments` of the actlog server. */
export interface RiskJudgmentPage {
  readonly items: readonly RiskJudgment[];
  readonly nextCursor: string | null;
}

/** Handling of a session: a person looked at its risk and is done with it. */
export interface SessionHandling {
  readonly handledAt: string;
  readonly handledBy: string;
  readonly handledByPrincipal: string | null;
  readonly reason: string;
  /** Score when it was handled, as a whole number. A higher one opens the session again. */
  readonly score: number;
}

/** Note about a session: a comment, or that it was assigned. */
export interface SessionNote {
  readonly id: string;
  readonly kind: 'comment' | 'assigned';
  /** The comment, or the person that the session was assigned to: empty for nobody. */
  readonly text: string;
  readonly writtenAt: string;
  readonly writtenBy: string;
  readonly writtenByPrincipal: string | null;
}

/** Response of `GET /server/v1/sessions/:id/review` of the actlog server: what people found out about a session's risk. */
export interface SessionReview {
  readonly sessionId: string;
  /** Score with the judgments. */
  readonly risk: RiskValue;
  /** Score without them. */
  readonly riskWithoutJudgments: RiskValue;
  /** Factors of the score, with what a judgment about each needs. */
  readonly factors: readonly {
    readonly ruleId: string;
    /** The only tool whose actions the factor counts; null if there are several. */
    readonly toolName: string | null;
    /** Judgment that applies to the factor; null for none. */
    readonly judgmentId: string | null;
  }[];
  /** Judgments that apply to the session, oldest first. */
  readonly judgments: readonly RiskJudgment[];
  /** `reopened` if its score has risen since a person handled it. */
  readonly status: 'open' | 'handled' | 'reopened';
  /** Null if it is `open`. */
  readonly handling: SessionHandling | null;
  /** Person that the session is assigned to; null for nobody. */
  readonly assignee: string | null;
  /** Comments and assignments, oldest first. */
  readonly notes: readonly SessionNote[];
}

function list(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}

/**
 * Last words of argument names, by what they say about an action. The risk engine and conditions of policies classify
 * arguments by the same words, so that both know the same targets.
 *
 * - `content`: how an action is worded: the body of a message, the text of a document, a command, code, a query.
 * - `place`: where the agent works: a path or a file on its machine, or a position within one.
 * - `shell`: a command or code that is run.
 *
 * Any other argument may determine what an action is aimed at.
 */
export const argumentWords: Readonly<Record<'content' | 'place' | 'shell', readonly string[]>> = {
  content: list(`
    abstract answer body caption cmd code command commands comment comments content contents description detail details
    diff document draft edits expression html input instructions markdown memo message note notes paragraph patch pattern
    payload prompt query reason regex remark reply script snippet source sql statement str string subject summary
    template text thought title transcript`),
  place: list(`
    cwd dir directory file filename files folder glob line lines limit location notebook offset path paths workdir`),
  shell: list('argv cmd code command commands input script'),
};
