import type { Baseline } from './baseline/baseline.ts';
import { hash32 } from './codec/byte-reader.ts';
import { type Finding, findings } from './composition.ts';
import { levels } from './levels.ts';
import { type StampName, stampIndex } from './risk-event.ts';
import { type Mark, sessionMarkIndex, type Tally } from './session/mark.ts';
import { shortName } from './session/observe.ts';
import { keptTool, type SessionState } from './session/session-state.ts';
import { type SessionView, viewOf } from './session/session-view.ts';

/** Kind of a judgment: `expected` for what is normal, `attack` for a confirmed attack. */
export type JudgmentKind = 'expected' | 'attack';

/**
 * Judgment of a person about the factors within a scope. A factor is within it if it matches every part that is given;
 * at least one must be given.
 */
export interface Judgment {
  readonly id: string;
  readonly kind: JudgmentKind;
  /** Rule of the factor. Required for `expected`, unless it is about one session. */
  readonly ruleId?: string | undefined;
  /** Tool of all actions of the factor. */
  readonly toolName?: string | undefined;
  /** Agent of the session. */
  readonly agentId?: string | undefined;
  /** `true` if it is about the scored session alone. Judgments about other sessions must not be given. Default: false. */
  readonly isOfSession?: boolean | undefined;
  /** `actionsOf` the session when it was judged: an expectation ends with a further action. Default: it does not. */
  readonly actions?: number | undefined;
}

/** Options for scoring a session. */
export interface ScoreOptions {
  /** The agent's baseline as frozen at the start of the session. Default: none. */
  readonly baseline?: Baseline | undefined;
  /** Judgments of people: those about this session, and those about no session. Default: none. */
  readonly judgments?: readonly Judgment[] | undefined;
}

/** Kinds of events that are actions, or show that a call was one. */
const actionMarks: readonly Mark[] = ['act', 'reach', 'leaked', 'unauthorized'];

/** Lowest score of a session that a person confirmed as an attack, and of one that shows the same as such an attack. */
const leastScores = { session: levels.critical, similar: levels.high } as const;

/** Findings of a session, with what people judged about them. */
export interface Judged {
  /** Judgments by the findings that they are about. */
  readonly about: ReadonlyMap<Finding, Judgment>;
  /** Lowest score by the findings that are like a confirmed attack. */
  readonly least: ReadonlyMap<Finding, number>;
  /** Lowest score of the session by judgments about it alone. */
  readonly leastOfSession: number;
  /** Findings that count: all but the expected ones. */
  readonly counted: readonly Finding[];
}

const none: Pick<Judged, 'about' | 'least' | 'leastOfSession'> = {
  about: new Map(),
  least: new Map(),
  leastOfSession: 0,
};

function talliesOf({ rule }: Finding, { marks, stamps }: SessionState): Tally[] {
  return (rule.acts ?? [])
    .map((act) =>
      act in sessionMarkIndex ? marks[sessionMarkIndex[act as Mark]] : stamps[stampIndex[act as StampName]],
    )
    .filter((tally): tally is Tally => tally !== undefined && tally.count > 0);
}

/** Returns the hash of the only tool whose actions a finding counts; 0 if there are several, or none is known. */
function onlyTool(finding: Finding, state: SessionState): number {
  const tallies = talliesOf(finding, state);
  const tool = tallies[0]?.firstTool ?? 0;
  return tallies.every(({ isMixed, firstTool }) => !isMixed && firstTool === tool) ? tool : 0;
}

function isTool(toolName: string, hash: number, state: SessionState): boolean {
  if (hash32(toolName) !== hash) return false;
  const kept = keptTool(state, hash);
  return kept === undefined || kept.name === shortName(toolName);
}

/** Returns a number that grows with each action of a session, whatever tool or arguments show it. */
export function actionsOf({ marks }: SessionState): number {
  return actionMarks.reduce((sum, mark) => sum + (marks[sessionMarkIndex[mark]]?.count ?? 0), 0);
}

/** `true` if nothing in the finding may be outside the scope, so that what is expected hides no other act. */
function isExpected(judgment: Judgment, finding: Finding, { state }: SessionView): boolean {
  const { ruleId, toolName, agentId, isOfSession = false, actions = Number.POSITIVE_INFINITY } = judgment;
  if (actionsOf(state) > actions) return false;
  // What is proof by itself is only expected if a person named it.
  if (ruleId === undefined ? !isOfSession || finding.rule.deterministic : ruleId !== finding.rule.id)
    return false;
  if (toolName !== undefined && !isTool(toolName, onlyTool(finding, state), state)) return false;
  return (
    agentId === undefined || (state.agents.size === 1 && state.agents.get(hash32(agentId)) !== undefined)
  );
}

/** `true` if anything in the finding is within the scope. */
function isLikeAttack(judgment: Judgment, finding: Finding, { state }: SessionView): boolean {
  const { ruleId, toolName, agentId, isOfSession = false } = judgment;
  if (ruleId === undefined && toolName === undefined && agentId === undefined) return isOfSession;
  if (ruleId !== undefined && ruleId !== finding.rule.id) return false;
  if (agentId !== undefined && state.agents.get(hash32(agentId)) === undefined) return false;
  if (toolName === undefined) return true;
  const tools = talliesOf(finding, state).flatMap(({ firstTool, lastTool }) => [firstTool, lastTool]);
  return tools.some((hash) => isTool(toolName, hash, state));
}

/** Returns the judgment that decides about a finding: an attack before an expectation, one about the session first. */
function decidingOn(
  finding: Finding,
  view: SessionView,
  judgments: readonly Judgment[],
): Judgment | undefined {
  let deciding: Judgment | undefined;
  for (const judgment of judgments) {
    if (judgment.ruleId !== undefined && judgment.ruleId !== finding.rule.id) continue;
    if (judgment.kind === 'expected') {
      if (deciding === undefined && isExpected(judgment, finding, view)) deciding = judgment;
    } else if (deciding?.kind !== 'attack' || (judgment.isOfSession && !deciding.isOfSession)) {
      if (isLikeAttack(judgment, finding, view)) deciding = judgment;
    }
  }
  return deciding;
}

/** Applies the judgments of people to the findings of a session. A confirmed attack outweighs what is expected. */
export function judged(
  found: readonly Finding[],
  view: SessionView,
  judgments: readonly Judgment[] = [],
): Judged {
  if (judgments.length === 0) return { ...none, counted: found };
  const about = new Map<Finding, Judgment>();
  const least = new Map<Finding, number>();
  for (const finding of found) {
    const judgment = decidingOn(finding, view, judgments);
    if (judgment === undefined) continue;
    about.set(finding, judgment);
    if (judgment.kind === 'attack')
      least.set(finding, judgment.isOfSession ? leastScores.session : leastScores.similar);
  }
  const isConfirmed = judgments.some(({ kind, isOfSession }) => kind === 'attack' && isOfSession);
  return {
    about,
    least,
    leastOfSession: isConfirmed ? leastScores.session : 0,
    counted: about.size === 0 ? found : found.filter((finding) => about.get(finding)?.kind !== 'expected'),
  };
}

const notes: Readonly<Record<JudgmentKind, string>> = {
  expected: 'A person marked this as expected, so it does not count.',
  attack: 'A person confirmed this as an attack.',
};

/** Returns the explanation of a finding, with what a person judged about it. */
export function explained({ match }: Finding, judgment: Judgment | undefined): string {
  return judgment === undefined ? match.explanation : `${match.explanation} ${notes[judgment.kind]}`;
}

/** A factor of a score, as a person can judge it. */
export interface JudgedFactor {
  readonly ruleId: string;
  /** The only tool whose actions the factor counts; null if there are several. */
  readonly toolName: string | null;
  /** Judgment that applies to it; null for none. */
  readonly judgmentId: string | null;
}

/**
 * Returns the factors of a session with the judgments that apply to them, in the order of the rules.
 *
 * @param toolNames - tools of the session; others are not named
 */
export function judgedFactors(
  state: SessionState,
  { baseline, judgments = [] }: ScoreOptions,
  toolNames: readonly string[],
): JudgedFactor[] {
  const view = viewOf(state, baseline);
  const found = findings(view);
  const { about } = judged(found, view, judgments);
  return found.map((finding) => {
    const only = onlyTool(finding, state);
    return {
      ruleId: finding.rule.id,
      toolName: (only !== 0 && toolNames.find((name) => isTool(name, only, state))) || null,
      judgmentId: about.get(finding)?.id ?? null,
    };
  });
}
