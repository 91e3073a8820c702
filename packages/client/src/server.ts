/**
 * Endpoints that the actlog server has in addition to the specification. Other services respond with 404.
 *
 * @packageDocumentation
 */
export {
  type BacktestChange,
  type BacktestDraft,
  type BacktestOptions,
  type BacktestResult,
  backtestPolicies,
} from './server/backtest-policies.ts';
export { type DecisionFilters, listDecisions } from './server/list-decisions.ts';
export type { MatchedPolicy, PolicyDecision } from './server/policy-decision.ts';
