/**
 * The wire contract of actlog as data: the endpoint table, error codes, header names, limits and all wire
 * types. It does no I/O and has no dependencies. The zod schemas are in `@actlog/protocol/schemas`, the
 * OpenAPI document is in `@actlog/protocol/openapi`.
 *
 * @packageDocumentation
 */
export {
  type ActionDecision,
  type ActionDecisionResult,
  type ActionDecisionResults,
  maxDecisionsAtOnce,
} from './action-decision.ts';
export type { ApprovalGrant, ApprovalGrantPage } from './approval-grant.ts';
export { argumentWords } from './argument-words.ts';
export {
  type AuditAction,
  type AuditActor,
  type AuditEntry,
  type AuditEntryPage,
  type AuditFieldChange,
  type AuditTargetKind,
  auditActions,
  auditTargetKinds,
} from './audit.ts';
export type { BacktestChange, BacktestResult } from './backtest-result.ts';
export { type CheckPreference, checkPreference } from './check-preference.ts';
export type { BodyOf, Contract, ItemOf, PathParametersOf, QueryOf, ResponseOf, SentOf } from './contract.ts';
export {
  type Endpoint,
  type EndpointName,
  type Endpoints,
  endpointNames,
  endpoints,
  type ListEndpointName,
  type Resource,
  type Scope,
} from './endpoints.ts';
export { type ErrorCode, errorCodes, type WarningCode, warningCodes } from './error-codes.ts';
export {
  exactDigitsOf,
  hasLargeInteger,
  type JsonFlaw,
  jsonFlaw,
  parseExactJson,
  parseJsonForOutput,
  parseJsonWithBigInts,
  parseLargeIntegers,
  repeatedMember,
  stringifyExactJson,
} from './exact-json.ts';
export { headers, webhookHeaders } from './headers.ts';
export {
  argumentOriginsCategory,
  keyPrefixes,
  limits,
  maxWaitSeconds,
  schemaVersion,
  subagentCallCategory,
  toolCallCategory,
} from './limits.ts';
export { mergePatch } from './merge-patch.ts';
export type {
  ActivityBucket,
  ActivityCounts,
  NamedActivity,
  Overview,
  OverviewInterval,
  RiskySession,
  WebhookHealth,
} from './overview.ts';
export type { MatchedPolicy, PolicyDecision, PolicyDecisionPage } from './policy-decision.ts';
export { decisionCategory, isReservedCategory } from './reserved-category.ts';
export type {
  RiskJudgment,
  RiskJudgmentChange,
  RiskJudgmentDraft,
  RiskJudgmentEffect,
  RiskJudgmentKind,
  RiskJudgmentPage,
  RiskJudgmentScope,
  RiskValue,
  SessionHandling,
  SessionReview,
} from './risk-judgment.ts';
export { riskLevels, wholeScore } from './risk-levels.ts';
export type { Agent, AgentCreate, AgentUpdate } from './schemas/agent.ts';
export type { ArgumentOrigin, ArgumentOrigins, ArgumentOriginsPayload } from './schemas/argument-origin.ts';
export type { CheckResult, PolicyCheck } from './schemas/check.ts';
export type { ErrorDetail, ErrorEnvelope } from './schemas/error-envelope.ts';
export type {
  ActivityEvent,
  EventAck,
  EventWarning,
  StoredEvent,
  SubagentCallPayload,
  ToolCallPayload,
} from './schemas/event.ts';
export type {
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelCreated,
} from './schemas/notification-channel.ts';
export type { Decide, GivenApproval, GrantChoice, PendingAction } from './schemas/pending-action.ts';
export type { Policy, PolicyCreate, PolicyEffect, PolicyUpdate } from './schemas/policy.ts';
export type { Risk, RiskDimension, RiskFactor, RiskLevel, RiskRecommendation } from './schemas/risk.ts';
export type { Session, SessionDetail, SessionExport } from './schemas/session.ts';
export type { WebhookEvent, WebhookEventType } from './schemas/webhook-event.ts';
export {
  type RotatedWebhook,
  type WebhookDelivery,
  type WebhookDeliveryPage,
  type WebhookState,
  webhookTestType,
} from './webhook-state.ts';
