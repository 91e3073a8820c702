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
  EditableArgument,
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
export type {
  ClientOptions,
  Clock,
  HeaderOverrides,
  Hooks,
  IdentitySource,
  IncomingResponse,
  LogFields,
  Logger,
  LogLevel,
  OutgoingRequest,
  PlannedRetry,
  TimerHandle,
} from './client-options.ts';
export {
  ActlogError,
  type ActlogErrorCode,
  APIAbortError,
  APIConnectionError,
  APITimeoutError,
  type ConnectionErrorContext,
  type ErrorContext,
  ExportIntegrityError,
  InvalidArgumentError,
  ResponseShapeError,
  WebhookVerificationError,
} from './errors/actlog-error.ts';
export {
  APIError,
  type APIErrorContext,
  AuthenticationError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
  ValidationError,
} from './errors/api-error.ts';
export type { ExportedBlob, ExportToBlobOptions } from './export/export-blob.ts';
export type { ExportedFile, ExportProgress, ExportToFileOptions } from './export/export-file.ts';
export type { WatchOptions } from './guardian/watch-pending-actions.ts';
export { ItemSequence, type Page } from './pagination/item-sequence.ts';
export type { List } from './pagination/list.ts';
export type { RecordId } from './records/id-of.ts';
export type {
  AgentMessageEvent,
  ArgumentOriginsEvent,
  GuardianDecisionEvent,
  KnownEvent,
  LlmCallEvent,
  MemoryWriteEvent,
  ToolCallEvent,
} from './records/known-event.ts';
export { createEventId } from './request/endpoint-caller.ts';
export type { ListOptions, Query, QueryValue, RequestOptions } from './request/request-options.ts';
export type { RequestPromise, WithResponse } from './request/request-promise.ts';
export type { Agents } from './resources/agents.ts';
export type { EventInput, Events } from './resources/events.ts';
export type { Guardian, PendingActions } from './resources/guardian.ts';
export type { NotificationChannels } from './resources/notification-channels.ts';
export type { CheckOptions, Policies } from './resources/policies.ts';
export type { SessionFilters, Sessions } from './resources/sessions.ts';
export {
  type SignOptions,
  type UnwrapOptions,
  Webhooks,
} from './resources/webhooks.ts';
export { parseRetryAfter } from './retry/retry-after.ts';
export type { Fetch } from './transport/transport.ts';
export type { WebhookRequestHeaders } from './webhooks/webhook-delivery.ts';
export type { WebhookSignatureHeaders } from './webhooks/webhook-signature.ts';
