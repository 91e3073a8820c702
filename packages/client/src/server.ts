/**
 * Endpoints that the actlog server has in addition to the specification. Other services respond with 404.
 *
 * @packageDocumentation
 */
export type { BacktestChange, BacktestResult, MatchedPolicy, PolicyDecision } from '@actlog/protocol';
export { type BacktestDraft, type BacktestOptions, backtestPolicies } from './server/backtest-policies.ts';
export { type DecisionFilters, listDecisions } from './server/list-decisions.ts';
