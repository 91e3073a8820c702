export {
  type Baseline,
  emptyBaseline,
  forget,
  type LearnOptions,
  learn,
  parseBaseline,
  serializeBaseline,
} from './baseline/baseline.ts';
export { type Finding, findings } from './composition.ts';
export { currentEngineVersion, currentRulesetHash } from './engine-version.ts';
export {
  actionsOf,
  type JudgedFactor,
  type Judgment,
  type JudgmentKind,
  judgedFactors,
} from './judgments.ts';
export { levelOf, levels } from './levels.ts';
export {
  type EventContext,
  type RiskEvent,
  riskEvent,
  type StampName,
  stampNames,
  stampOf,
  type WireEvent,
} from './risk-event.ts';
export {
  type DimensionId,
  dimensionIds,
  dimensionNames,
  type LlmRiskId,
  type RiskDimension,
  type RiskFactor,
  type RiskLevel,
  type RiskRecommendation,
  type RiskScore,
} from './risk-score.ts';
export type { Rule, RuleMatch } from './rule.ts';
export { allRules } from './rule-catalogue.ts';
export type { ExampleStep, RuleExample } from './rule-example.ts';
export { type ScoreOptions, score } from './score.ts';
export { sentenceOf, toolCallsOf } from './sentence.ts';
export { observe } from './session/observe.ts';
export { parseSession, serializeSession } from './session/session-codec.ts';
export { emptySession, type SessionState } from './session/session-state.ts';
export { type SessionView, viewOf } from './session/session-view.ts';
export { type ToolTag, tagBits, tagsOf, toolTags } from './taxonomy/tag.ts';
export { readsUntrusted, readToolName, type ToolProfile } from './taxonomy/tool-profile.ts';
export { type Arrival, type Stamping, stampEvent } from './tenant/stamp-event.ts';
export { emptyTenant, parseTenant, serializeTenant, type TenantState } from './tenant/tenant-state.ts';
