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
  RiskJudgment,
  RiskJudgmentChange,
  RiskJudgmentDraft,
  RiskJudgmentEffect,
  RiskJudgmentKind,
  RiskJudgmentScope,
  RiskValue,
  RiskySession,
  RotatedWebhook,
  SessionHandling,
  SessionReview,
  WebhookDelivery,
  WebhookHealth,
  WebhookState,
} from '@actlog/protocol';
export {
  type BacktestDraft,
  type BacktestOptions,
  backtestPolicies,
  type PolicyTrial,
  tryPolicies,
} from './server/backtest-policies.ts';
export { decideActions } from './server/decide-actions.ts';
export { getOverview, type OverviewRange } from './server/get-overview.ts';
export { type GrantFilters, listGrants, revokeGrant } from './server/grants.ts';
export {
  createJudgment,
  endJudgment,
  type JudgmentEnd,
  type JudgmentFilters,
  listJudgments,
  previewJudgment,
} from './server/judgments.ts';
export {
  type AuditFilters,
  type DecisionFilters,
  listAuditEntries,
  listDecisions,
} from './server/list-decisions.ts';
export { getSessionReview, handleSession, reopenSession } from './server/session-review.ts';
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
  setWebhookRiskLevel,
  type WebhookRotation,
} from './server/webhooks.ts';
