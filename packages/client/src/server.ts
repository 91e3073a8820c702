/**
 * Endpoints that the actlog server has in addition to the specification. Other services respond with 404.
 *
 * @packageDocumentation
 */
export type {
  ActionDecision,
  ActionDecisionResult,
  ActivityBucket,
  ActivityCounts,
  ApprovalGrant,
  BacktestChange,
  BacktestResult,
  MatchedPolicy,
  NamedActivity,
  Overview,
  OverviewInterval,
  PolicyDecision,
  RiskySession,
  WebhookHealth,
} from '@actlog/protocol';
export { type BacktestDraft, type BacktestOptions, backtestPolicies } from './server/backtest-policies.ts';
export { decideActions } from './server/decide-actions.ts';
export { getOverview, type OverviewRange } from './server/get-overview.ts';
export { type GrantFilters, listGrants, revokeGrant } from './server/grants.ts';
export { type DecisionFilters, listDecisions } from './server/list-decisions.ts';
