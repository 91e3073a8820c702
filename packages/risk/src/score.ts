import { Composition, type Finding, findings } from './composition.ts';
import { currentEngineVersion, currentRulesetHash } from './engine-version.ts';
import { explained, type Judged, type Judgment, judged, type ScoreOptions } from './judgments.ts';
import { evidenceLimits, levelOf, rounded, scoreOf } from './levels.ts';
import {
  type DimensionId,
  dimensionIds,
  dimensionNames,
  type RiskDimension,
  type RiskFactor,
  type RiskRecommendation,
  type RiskScore,
} from './risk-score.ts';
import { allRules } from './rule-catalogue.ts';
import type { SessionState } from './session/session-state.ts';
import { type SessionView, stampTallyOf, tallyOf, viewOf } from './session/session-view.ts';
import { nounClassNames } from './taxonomy/nouns.ts';

const strongestCount = 5;

export type { ScoreOptions } from './judgments.ts';

/** A finding with its data for the score. */
interface Ranked {
  readonly finding: Finding;
  readonly factor: RiskFactor;
}

function factorOf(finding: Finding, delta: number, judgment: Judgment | undefined): RiskFactor {
  const { rule, match } = finding;
  return {
    ruleId: rule.id,
    title: rule.title,
    explanation: explained(finding, judgment),
    weight: rule.weight,
    delta,
    evidence: { eventIds: match.eventIds.slice(0, 5), count: match.count ?? match.eventIds.length },
    recommendation: rule.recommendation.text,
  };
}

function isProof({ rule }: Finding): boolean {
  return rule.deterministic === true;
}

function proven(found: readonly Finding[]): boolean {
  if (found.some(isProof)) return true;
  if (found.length < 2) return false;
  return new Set(found.map(({ rule }) => rule.cluster ?? rule.id)).size >= 2;
}

function dimensionOf(
  id: DimensionId,
  view: SessionView,
  own: readonly Ranked[],
  { about, least }: Judged,
): RiskDimension {
  if (own.length === 0) {
    const observable = isObservable(id, view);
    return { id, name: dimensionNames[id], score: 0, level: 'low', observable, factors: [] };
  }
  const all = own.map(({ finding }) => finding);
  const found = about.size === 0 ? all : all.filter((finding) => about.get(finding)?.kind !== 'expected');
  const composed = scoreOf(new Composition(found, confidenceOf(view)).evidence, proven(found));
  const score = rounded(Math.max(composed, highestOf(least, found)));
  return {
    id,
    name: dimensionNames[id],
    score,
    level: levelOf(score),
    observable: true,
    factors: own.map(({ factor }) => factor),
  };
}

function recommendationOf({ rule }: Finding): RiskRecommendation {
  return { id: rule.id, ...rule.recommendation, dimension: rule.dimension };
}

function confidenceOf({ expected }: SessionView): number {
  return expected?.confidence ?? 0;
}

/** Returns the highest of the lowest scores that the findings allow. */
function highestOf(least: Judged['least'], found: readonly Finding[]): number {
  return least.size === 0 ? 0 : Math.max(0, ...found.map((finding) => least.get(finding) ?? 0));
}

/**
 * Scores a session. Pure: the same state, baseline and judgments always give the same result.
 * Takes about ten microseconds for any number of events.
 */
export function score(state: SessionState, options: ScoreOptions = {}): RiskScore {
  const view = viewOf(state, options.baseline);
  const all = findings(view);
  const judgedFindings = judged(all, view, options.judgments);
  const { about, least, leastOfSession, counted } = judgedFindings;
  const composition = new Composition(counted, confidenceOf(view));
  const isProven = proven(counted);
  const exact = Math.max(scoreOf(composition.evidence, isProven), leastOfSession, highestOf(least, counted));
  const deltaOf = (finding: Finding) => {
    if (about.get(finding)?.kind === 'expected') return 0;
    const others = least.size === 0 ? counted : counted.filter((other) => other !== finding);
    const left = scoreOf(composition.without(finding), isProven);
    return rounded(Math.max(0, exact - Math.max(left, leastOfSession, highestOf(least, others))));
  };
  const ranked = all
    .map((finding): Ranked => {
      return { finding, factor: factorOf(finding, deltaOf(finding), about.get(finding)) };
    })
    .sort((a, b) => b.factor.delta - a.factor.delta || (a.finding.rule.id < b.finding.rule.id ? -1 : 1));
  const strongest = ranked
    .filter(({ finding }) => about.get(finding)?.kind !== 'expected')
    .slice(0, strongestCount);
  const total = rounded(exact);
  const byDimension = Map.groupBy(ranked, ({ finding }) => finding.rule.dimension);
  return {
    score: total,
    level: levelOf(total),
    engineVersion: currentEngineVersion,
    rulesetHash: currentRulesetHash,
    eventCount: state.eventCount,
    dimensions: dimensionIds.map((id) => dimensionOf(id, view, byDimension.get(id) ?? [], judgedFindings)),
    factors: strongest.map(({ factor }) => factor),
    recommendations: strongest.map(({ finding }) => recommendationOf(finding)),
  };
}

const memory = nounClassNames.indexOf('memory') + 1;

const called = (view: SessionView) => tallyOf(view, 'call').count > 0;

function decided(view: SessionView): boolean {
  return (['approved', 'refused', 'lapsed', 'held'] as const).some((mark) => tallyOf(view, mark).count > 0);
}

function namesKnown(view: SessionView): boolean {
  return tallyOf(view, 'act').count > 0 || tallyOf(view, 'look').count > tallyOf(view, 'unknown').count;
}

/** Tests by dimension that return `true` if the records could have shown the dimension. */
const observable: Readonly<Record<DimensionId, (view: SessionView) => boolean>> = {
  // With origins, it shows which actions were aimed by text.
  ASI01: (view) => namesKnown(view) || tallyOf(view, 'origins').count > 0,
  ASI02: called,
  ASI03: called,
  ASI04: (view) =>
    stampTallyOf(view, 'tenant_known').count > 0 || stampTallyOf(view, 'tool_confusable').count > 0,
  ASI05: namesKnown,
  ASI06: (view) => tallyOf(view, 'memory').count > 0 || view.tools.some(([, tool]) => tool.noun === memory),
  ASI07: (view) =>
    tallyOf(view, 'agent_msg').count > 0 ||
    view.state.agents.size > 1 ||
    view.state.versions.size > 1 ||
    stampTallyOf(view, 'clock_ahead').count > 0,
  ASI08: called,
  ASI09: decided,
  ASI10: (view) =>
    decided(view) ||
    tallyOf(view, 'policy_denied').count > 0 ||
    view.expected !== undefined ||
    stampTallyOf(view, 'agent_revoked').count > 0,
};

/**
 * `true` if a session's records could have shown a dimension. Otherwise its score of 0 is not an all-clear.
 */
function isObservable(dimension: DimensionId, view: SessionView): boolean {
  return observable[dimension](view);
}

/**
 * Returns everything that determines a score besides code: the rules' ids, dimensions and weights, and the
 * level limits.
 */
export function rulesetText(): string {
  const rules = allRules.map(
    ({
      id,
      dimension,
      weight,
      cluster = null,
      deterministic = false,
      habitual = true,
      precedented = false,
      circumstantial = false,
    }) => ({
      id,
      dimension,
      weight,
      cluster,
      deterministic,
      habitual,
      precedented,
      circumstantial,
    }),
  );
  return JSON.stringify({ rules, levels: evidenceLimits });
}
