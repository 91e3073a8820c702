/**
 * The rules of the service, once, for every implementation of it: the reference server and the mock use this package.
 * It decides checks of actions, compiles and matches policies (name patterns with `*`, conditions in CEL), counts rates,
 * and words the warnings and refusals of requests. It does no I/O, reads no clock and keeps no state.
 *
 * @packageDocumentation
 */
export type { BacktestChange, BacktestResult } from '@actlog/protocol';
export { Backtest, type BacktestOptions, type DraftVerdict } from './backtest/backtest.ts';
export { type PastDecision, type PastMatch, pastVerdict } from './backtest/history-replay.ts';
export {
  type EarlierCall,
  PolicyTrial,
  type PolicyTrialOptions,
  type TrialContext,
  type TrialVerdict,
  type TriedPolicy,
} from './backtest/policy-trial.ts';
export {
  type ApprovalGrant,
  type ApprovalUse,
  type Approver,
  approvalRepeatMs,
  coveringGrant,
  type GrantedCheck,
  isSamePerson,
  isUsedUp,
  type PolicyVersion,
  personKey,
  policiesOfChanged,
} from './check/approval-rules.ts';
export {
  actionMismatch,
  type CheckDecision,
  type CheckEffect,
  type CheckFacts,
  type CheckResponse,
  checkResponse,
  decideCheck,
  decideWaitingCheck,
  type KnownAction,
} from './check/decide.ts';
export {
  type DecidableAction,
  decideHeld,
  type GrantTerms,
  type HeldDecision,
  maxSessionGrants,
  maxTenantGrants,
} from './check/decide-held.ts';
export {
  changedDecision,
  type DecisionPayload,
  decisionEvent,
  denialIdentity,
  endDecision,
  type GrantRevocationPayload,
  grantedDecision,
  policyDecision,
} from './check/decision-event.ts';
export {
  agentRevoked,
  byPrecedence,
  type DefinedPolicy,
  deniedTools,
  denyingPolicy,
  type FiredPolicy,
  fallbackPriority,
  firedPolicies,
  isFallback,
  keyStopped,
  lastingPolicies,
  type PolicyDefinition,
  type PolicyWeight,
  policyDefinition,
  promptPolicyId,
  revokedAbove,
  scheduledPolicies,
  type Verdict,
  verdictOn,
  withPrompt,
} from './check/fired-policy.ts';
export {
  type ApprovedAction,
  approvalSubject,
  type ChangedAction,
  type HeldAction,
  heldOutcome,
  heldSizeRefusal,
  isApprovedChange,
  lateDecisionRefusal,
  type NewHeldAction,
} from './check/held-action.ts';
export { policyContradiction } from './check/policy-contradiction.ts';
export { exceededRates, type Rate, type RateWindow, rateWindows, windowKey } from './check/rate.ts';
export { isTimeZone, type Schedule, scheduleEndMs } from './check/schedule.ts';
export {
  type ArrivalContext,
  type ArrivedEvent,
  categoryRefusal,
  warningsOf,
  warningView,
} from './events/event-warnings.ts';
export {
  type CallEnd,
  CallHistory,
  type HistoryChanges,
  type StoredHistory,
} from './history/call-history.ts';
export { AgentTools } from './history/folded-calls.ts';
export type { HistoryFacts } from './history/history-view.ts';
export {
  type CallOutcome,
  type KeptArgument,
  keptArguments,
  type SessionCall,
  type StoredCall,
} from './history/stored-call.ts';
export { type WatchedCall, WatchedCalls } from './history/watched-calls.ts';
export {
  type CheckedAction,
  type CheckPreference,
  checkedAction,
  checkPreference,
  type IdentifiedCheck,
} from './match/checked-action.ts';
export { type Condition, maxConditionCost, type PolicyHistory, parseCondition } from './match/condition.ts';
export { ConditionError, type ConditionErrorOptions } from './match/condition-error.ts';
export { budgetProblem, defaultPolicyBudget, type PolicyBudget } from './match/cost/condition-cost.ts';
export { Glob, matchesGlob } from './match/glob.ts';
export { type HistoryReads, mayReadHistory } from './match/history-reads.ts';
export {
  explainMatch,
  type MatchExplanation,
  matchPolicy,
  needsHistory,
  type PolicyMatch,
  type PolicyRule,
  policyRule,
} from './match/match-policy.ts';
export {
  invalidRequest,
  notFoundRefusal,
  type Refusal,
  type SchemaIssue,
  schemaRefusal,
  unknownEndpoint,
} from './requests/refusal.ts';
