/**
 * The wire contract of actlog as data: the endpoint table, error codes, header names, limits and all wire
 * types. It does no I/O and has no dependencies. The zod schemas are in `@actlog/protocol/schemas`, the
 * OpenAPI document is in `@actlog/protocol/openapi`.
 *
 * @packageDocumentation
 */

export {
  type ArgumentChanges,
  type ChangedArguments,
  type ChangeProblem,
  changeCallArguments,
  changeShownArguments,
  isSameJson,
  valueAt,
} from './argument-changes.ts';
export {
  type AuditAction,
  type AuditActor,
  type AuditEntry,
  type AuditEntryPage,
  type AuditFieldChange,
  type AuditTargetKind,
  auditActions,
  auditTargetKinds,
  type ClassRetention,
  type Forwarding,
  type ForwardingState,
  type LegalHold,
  type LegalHoldDraft,
  type LegalHoldPage,
  type LegalHoldScope,
  type RetentionClass,
  type RetentionInForce,
  type RotatedWebhook,
  type WebhookDelivery,
  type WebhookDeliveryPage,
  type WebhookState,
  webhookTestType,
} from './audit.ts';
export {
  type AlertKind,
  type AlertRule,
  type AlertRuleDefinition,
  alertKinds,
  type Channel,
  type ChannelDelivery,
  type ChannelEvent,
  type ChannelKind,
  type ChannelRules,
  channelEvents,
  channelKinds,
  channelTestType,
  type QuietHours,
} from './channels.ts';
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
  mergePatch,
  parseExactJson,
  parseJsonForOutput,
  parseJsonWithBigInts,
  parseLargeIntegers,
  repeatedMember,
  stringifyExactJson,
} from './exact-json.ts';
export {
  argumentOriginsCategory,
  decisionCategory,
  headers,
  keyPrefixes,
  limits,
  maxWaitSeconds,
  riskLevels,
  schemaVersion,
  sessionSealCategory,
  subagentCallCategory,
  toolCallCategory,
  webhookHeaders,
  wholeScore,
} from './limits.ts';
export type {
  ActivityBucket,
  ActivityCounts,
  AgentKey,
  ApplyingPolicy,
  CallsOfDay,
  EventPage,
  FailingChannel,
  NamedActivity,
  NamedActivityList,
  NamedActivityReport,
  NotableEvent,
  Overview,
  OverviewInterval,
  RiskOfDay,
  RiskySession,
  SessionMarkBucket,
  SessionMarkCounts,
  SessionMarks,
  SessionPlace,
  SessionToolCalls,
  WebhookHealth,
} from './overview.ts';
export { riskyEvents } from './overview.ts';
export {
  type ActionDecision,
  type ActionDecisionResult,
  type ActionDecisionResults,
  type ApprovalGrant,
  type ApprovalGrantPage,
  type BacktestChange,
  type BacktestResult,
  type MatchedPolicy,
  maxDecisionsAtOnce,
  type PolicyDecision,
  type PolicyDecisionPage,
} from './policy-decision.ts';
export {
  argumentWords,
  type RiskJudgment,
  type RiskJudgmentChange,
  type RiskJudgmentDraft,
  type RiskJudgmentEffect,
  type RiskJudgmentKind,
  type RiskJudgmentPage,
  type RiskJudgmentScope,
  type RiskValue,
  type SessionHandling,
  type SessionNote,
  type SessionReview,
} from './risk-judgment.ts';
export type { Agent, AgentCreate, AgentUpdate } from './schemas/agent.ts';
export type { ArgumentOrigin, ArgumentOrigins, ArgumentOriginsPayload } from './schemas/argument-origin.ts';
export type { CallerIdentity, CheckResult, PolicyCheck } from './schemas/check.ts';
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
export type { EditableArgument, Policy, PolicyCreate, PolicyEffect, PolicyUpdate } from './schemas/policy.ts';
export type { ErrorDetail, ErrorEnvelope } from './schemas/resource.ts';
export type { Risk, RiskDimension, RiskFactor, RiskLevel, RiskRecommendation } from './schemas/risk.ts';
export type { Session, SessionDetail, SessionExport } from './schemas/session.ts';
export type { WebhookEvent, WebhookEventType } from './schemas/webhook-event.ts';
