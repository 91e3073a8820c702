/**
 * Endpoints that the actlog server has in addition to the specification. Other services respond with 404.
 *
 * @packageDocumentation
 */
export type {
  ActivityBucket,
  ActivityCounts,
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
export { getOverview, type OverviewRange } from './server/get-overview.ts';
export { type DecisionFilters, listDecisions } from './server/list-decisions.ts';
