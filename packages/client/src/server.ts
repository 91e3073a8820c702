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
  ClassRetention,
  Forwarding,
  ForwardingState,
  LegalHold,
  LegalHoldDraft,
  LegalHoldScope,
  MatchedPolicy,
  NamedActivity,
  Overview,
  OverviewInterval,
  PolicyDecision,
  RetentionClass,
  RetentionInForce,
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
  type AuditFilters,
  type BacktestDraft,
  type BacktestOptions,
  backtestPolicies,
  type DecisionFilters,
  listAuditEntries,
  listDecisions,
  type PolicyTrial,
  tryPolicies,
} from './server/decisions.ts';
export { getOverview, type OverviewRange } from './server/get-overview.ts';
export { decideActions, type GrantFilters, listGrants, revokeGrant } from './server/grants.ts';
export {
  createJudgment,
  endJudgment,
  getSessionReview,
  handleSession,
  type JudgmentEnd,
  type JudgmentFilters,
  listJudgments,
  previewJudgment,
  reopenSession,
} from './server/judgments.ts';
export {
  createLegalHold,
  getForwarding,
  getRetention,
  type LegalHoldFilters,
  listLegalHolds,
  releaseLegalHold,
} from './server/kept-records.ts';
export {
  type EvidenceLine,
  type EvidenceRange,
  type FeedRange,
  type FeedRecord,
  readEvidence,
  readFeed,
} from './server/read-feed.ts';
export {
  type DeliveryFilters,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  listDeliveries,
  resendDelivery,
  rotateWebhookSecret,
  setWebhookRiskLevel,
  testWebhook,
  type WebhookRotation,
} from './server/webhooks.ts';
