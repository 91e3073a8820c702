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
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditFieldChange,
  AuditTargetKind,
  BacktestChange,
  BacktestResult,
  MatchedPolicy,
  NamedActivity,
  Overview,
  OverviewInterval,
  PolicyDecision,
  RiskySession,
  RotatedWebhook,
  WebhookDelivery,
  WebhookHealth,
  WebhookState,
} from '@actlog/protocol';
export { type BacktestDraft, type BacktestOptions, backtestPolicies } from './server/backtest-policies.ts';
export { decideActions } from './server/decide-actions.ts';
export { getOverview, type OverviewRange } from './server/get-overview.ts';
export { type GrantFilters, listGrants, revokeGrant } from './server/grants.ts';
export { type AuditFilters, listAuditEntries } from './server/list-audit-entries.ts';
export { type DecisionFilters, listDecisions } from './server/list-decisions.ts';
export { type PolicyTrial, tryPolicies } from './server/try-policies.ts';
export {
  type DeliveryFilters,
  listDeliveries,
  resendDelivery,
  testWebhook,
} from './server/webhook-deliveries.ts';
export {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  rotateWebhookSecret,
  type WebhookRotation,
} from './server/webhooks.ts';
