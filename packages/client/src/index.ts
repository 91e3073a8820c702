/**
 * Client of the actlog service: all endpoints, typed, with iterators, retries, time limits and errors.
 *
 * Importing it loads neither undici nor any Node module. On Node, the first request loads undici; elsewhere, or with
 * the `fetch` option, requests go through `fetch`.
 *
 * @packageDocumentation
 */
export type {
  Agent,
  AgentCreate,
  AgentUpdate,
  ArgumentOrigin,
  ArgumentOrigins,
  CheckResult,
  Decide,
  EventAck,
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelCreated,
  PendingAction,
  Policy,
  PolicyCheck,
  PolicyCreate,
  PolicyEffect,
  PolicyUpdate,
  Risk,
  RiskDimension,
  RiskFactor,
  RiskLevel,
  RiskRecommendation,
  Session,
  SessionDetail,
  SessionExport,
  StoredEvent,
  WebhookEvent,
  WebhookEventType,
} from '@actlog/protocol';
export { Actlog, Actlog as default, type RawRequestOptions } from './actlog.ts';
export type { ClientOptions, Fetch } from './client-options.ts';
export type { Clock, TimerHandle } from './clock.ts';
export { ActlogError, type ErrorContext } from './errors/actlog-error.ts';
export { APIAbortError } from './errors/api-abort-error.ts';
export { APIConnectionError, type ConnectionErrorContext } from './errors/api-connection-error.ts';
export { APIError, type APIErrorContext } from './errors/api-error.ts';
export { APITimeoutError } from './errors/api-timeout-error.ts';
export { AuthenticationError } from './errors/authentication-error.ts';
export { ConflictError } from './errors/conflict-error.ts';
export type { ActlogErrorCode } from './errors/error-code.ts';
export { ExportIntegrityError } from './errors/export-integrity-error.ts';
export { InternalServerError } from './errors/internal-server-error.ts';
export { InvalidArgumentError } from './errors/invalid-argument-error.ts';
export { NotFoundError } from './errors/not-found-error.ts';
export { PermissionDeniedError } from './errors/permission-denied-error.ts';
export { RateLimitError } from './errors/rate-limit-error.ts';
export { ResponseShapeError } from './errors/response-shape-error.ts';
export { ServiceUnavailableError } from './errors/service-unavailable-error.ts';
export { ValidationError } from './errors/validation-error.ts';
export { WebhookVerificationError } from './errors/webhook-verification-error.ts';
export type { ExportedBlob, ExportToBlobOptions } from './export/export-blob.ts';
export type { ExportedFile, ExportToFileOptions } from './export/export-file.ts';
export type { ExportProgress } from './export/export-progress.ts';
export type { WatchOptions } from './guardian/watch-options.ts';
export type { Hooks, IncomingResponse, OutgoingRequest, PlannedRetry } from './hooks.ts';
export type { LogFields, Logger, LogLevel } from './logger.ts';
export { ItemSequence } from './pagination/item-sequence.ts';
export type { List } from './pagination/list.ts';
export type { Page } from './pagination/page.ts';
export type {
  AgentMessageEvent,
  ArgumentOriginsEvent,
  GuardianDecisionEvent,
  KnownEvent,
  LlmCallEvent,
  MemoryWriteEvent,
  ToolCallEvent,
} from './records/known-event.ts';
export type { RecordId } from './records/record-id.ts';
export { createEventId } from './request/event-id.ts';
export type { Query, QueryValue } from './request/query-string.ts';
export type { HeaderOverrides } from './request/request-headers.ts';
export type { ListOptions, RequestOptions } from './request/request-options.ts';
export type { RequestPromise, WithResponse } from './request/request-promise.ts';
export type { Agents } from './resources/agents.ts';
export type { EventInput, Events } from './resources/events.ts';
export type { Guardian, PendingActions } from './resources/guardian.ts';
export type { NotificationChannels } from './resources/notification-channels.ts';
export type { CheckOptions, Policies } from './resources/policies.ts';
export type { SessionFilters } from './resources/session-filters.ts';
export type { Sessions } from './resources/sessions.ts';
export {
  type SignOptions,
  type UnwrapOptions,
  Webhooks,
} from './resources/webhooks.ts';
export { parseRetryAfter } from './retry/retry-after.ts';
export type { WebhookRequestHeaders } from './webhooks/webhook-delivery.ts';
export type { WebhookSignatureHeaders } from './webhooks/webhook-signature.ts';
