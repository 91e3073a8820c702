import type { WebhookHealth } from './overview.ts';
import type { RiskLevel } from './schemas/risk.ts';
import type { WebhookEventType } from './schemas/webhook-event.ts';

/** Kinds of things that changes are made to. */
export const auditTargetKinds = [
  'policy',
  'key',
  'agent',
  'webhook',
  'channel',
  'alert_rule',
  'push_subscription',
  'held_action',
  'grant',
  'session',
  'judgment',
  'legal_hold',
  'sign_in',
  'tenant',
] as const;

/** Kind of thing that a change was made to. */
export type AuditTargetKind = (typeof auditTargetKinds)[number];

/** Changes that the audit log records: the kind of the target, a period, and the change. */
export const auditActions = [
  'policy.created',
  'policy.updated',
  'policy.archived',
  'key.created',
  'key.rotated',
  'key.revoked',
  'agent.registered',
  'agent.updated',
  'agent.revoked',
  'agent.restored',
  'webhook.created',
  'webhook.disabled',
  'webhook.enabled',
  'webhook.secret_rotated',
  'webhook.risk_level_changed',
  'webhook.deleted',
  'webhook.tested',
  'webhook.message_resent',
  'channel.created',
  'channel.updated',
  'channel.muted',
  'channel.unmuted',
  'channel.disabled',
  'channel.enabled',
  'channel.tested',
  'channel.deleted',
  'alert_rule.created',
  'alert_rule.muted',
  'alert_rule.unmuted',
  'alert_rule.deleted',
  'push_subscription.created',
  'push_subscription.deleted',
  'held_action.partially_approved',
  'held_action.approved',
  'held_action.denied',
  'held_action.withdrawn',
  'grant.revoked',
  'session.confirmed',
  'session.handled',
  'session.reopened',
  'session.commented',
  'session.assigned',
  'session.deleted',
  'judgment.created',
  'judgment.ended',
  'legal_hold.created',
  'legal_hold.released',
  'sign_in.created',
  'sign_in.ended',
  'tenant.retention_changed',
  'tenant.log_changed',
  'tenant.quotas_changed',
  'tenant.tool_tags_changed',
] as const satisfies readonly `${AuditTargetKind}.${string}`[];

/** A change that the audit log records. */
export type AuditAction = (typeof auditActions)[number];

/**
 * Author of a change: `person` for someone who is signed in, `key` for a request with an API key, `operator` for the
 * server's command and its host program, `server` for the server itself.
 */
export interface AuditActor {
  readonly kind: 'person' | 'key' | 'operator' | 'server';
  /** Id of the person, `usr_…`, or of the key, such as `key_0198c1d2e3f47a5b`; null for others. */
  readonly id: string | null;
  /** Name of the person or the key at the time of the change; null for others. */
  readonly name: string | null;
  /** Name of the person who is signed in, or whom a trusted proxy named in the request; null for none. */
  readonly principal: string | null;
}

/** A changed field. Fields whose values the log does not keep have neither `before` nor `after`. */
export interface AuditFieldChange {
  readonly field: string;
  /** Value before the change; null for none. */
  readonly before?: unknown;
  /** Value after the change; null for none. */
  readonly after?: unknown;
}

/** One change in the audit log. */
export interface AuditEntry {
  readonly id: string;
  /** Time of the change: ISO 8601 in UTC, with milliseconds. */
  readonly at: string;
  readonly actor: AuditActor;
  readonly action: AuditAction;
  readonly target: {
    readonly kind: AuditTargetKind;
    readonly id: string;
    /** Name at the time of the change: a webhook's address without its query, a held action's tool, the person of a sign-in; null for none. */
    readonly name: string | null;
  };
  readonly changes: readonly AuditFieldChange[];
}

/** Response of `GET /server/v1/audit` of the actlog server. */
export interface AuditEntryPage {
  readonly items: readonly AuditEntry[];
  readonly nextCursor: string | null;
}

/**
 * Type of a test message. Its data is `{ webhookId }`. It is sent only on request, to one webhook, and attempted once.
 */
export const webhookTestType = 'webhook.test';

/** A webhook with the state of its deliveries. */
export interface WebhookState extends WebhookHealth {
  /** Types of the messages that it receives. */
  readonly events: readonly WebhookEventType[];
  /** Lowest level that it receives `session.risk_raised` for. */
  readonly riskLevel: RiskLevel;
  readonly createdAt: string;
  /** Time until which messages are also signed with the secret before the last rotation; null if they are not. */
  readonly previousSecretUntil: string | null;
}

/** A webhook whose signing secret was rotated. The secret is shown this once. */
export interface RotatedWebhook extends WebhookState {
  readonly secret: string;
}

/** One message to one webhook, without its content. */
export interface WebhookDelivery {
  readonly id: string;
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Value of the header `webhook-id`, the same in all attempts. */
  readonly messageId: string;
  readonly eventType: WebhookEventType | typeof webhookTestType;
  /** `waiting` for its first or next attempt; `failed` after its last one, or if the webhook was disabled. */
  readonly status: 'waiting' | 'delivered' | 'failed';
  /** Completed attempts since the message was queued or resent. */
  readonly attempts: number;
  readonly createdAt: string;
  /** Time of the next attempt; null if there is none. */
  readonly nextAttemptAt: string | null;
  /** Time at which it was delivered or failed; null while it waits. */
  readonly finishedAt: string | null;
  /** HTTP status of the response to the last attempt; null for no response. */
  readonly responseStatus: number | null;
  /** Reason for the failure of the last attempt; null if it succeeded, or before the first attempt. */
  readonly error: string | null;
  /** Duration of the last attempt in milliseconds; null if it is not known. */
  readonly durationMs: number | null;
}

/** Response of `GET /server/v1/webhooks/:id/deliveries` of the actlog server. */
export interface WebhookDeliveryPage {
  readonly items: readonly WebhookDelivery[];
  readonly nextCursor: string | null;
}

/** Classes of records with a retention of their own. */
export type RetentionClass = 'sessions' | 'decisions' | 'approvals' | 'audit';

/** Retention of a class of records. */
export interface ClassRetention {
  readonly class: RetentionClass;
  /** Days for which it is kept; null for forever. */
  readonly days: number | null;
  /** Days for which it is kept at least; 0 for no floor. */
  readonly floorDays: number;
}

/** Response of `GET /server/v1/retention` of the actlog server. */
export interface RetentionInForce {
  readonly classes: readonly ClassRetention[];
}

/** Scope of a legal hold. A record is covered if it matches every part that is given; null is any. */
export interface LegalHoldScope {
  readonly agentId: string | null;
  readonly sessionId: string | null;
  /** Earliest time (inclusive): ISO 8601. */
  readonly since: string | null;
  /** Latest time (exclusive): ISO 8601. */
  readonly until: string | null;
}

/** Parts of a scope; a missing one is any. */
type GivenScope = { readonly [Part in keyof LegalHoldScope]?: LegalHoldScope[Part] | undefined };

/** A legal hold to place. */
export interface LegalHoldDraft extends GivenScope {
  /** Name of the matter, such as a case number, 1 to 200 characters. */
  readonly name: string;
}

/** A legal hold: nothing that it covers is deleted, by anyone, until it is released. */
export interface LegalHold extends LegalHoldScope {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** Kind of its author. What an operator has placed, only an operator releases. */
  readonly createdByKind: AuditActor['kind'];
  /** Key or person; null for an operator. */
  readonly createdBy: string | null;
  readonly createdByPrincipal: string | null;
  /** Time of the release; null while it is in force. */
  readonly releasedAt: string | null;
  readonly releasedBy: string | null;
  readonly releasedByPrincipal: string | null;
}

/** Response of `GET /server/v1/legal-holds` of the actlog server. */
export interface LegalHoldPage {
  readonly items: readonly LegalHold[];
  readonly nextCursor: string | null;
}

/** State of a destination that records are forwarded to, for one tenant. */
export interface ForwardingState {
  /** Name in the settings of the server. */
  readonly name: string;
  readonly kind: 'splunk' | 'elastic' | 's3' | 'syslog' | 'otlp' | 'history';
  /** Index of the last entry of the log that the destination has acknowledged; null for none. */
  readonly position: number | null;
  /** Number of entries after it. */
  readonly lagRecords: number;
  /** Age of the oldest record after it, in seconds; 0 if there is none. */
  readonly lagSeconds: number;
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly lastSuccessAt: string | null;
  /** Reason of the last failure; null after a success. */
  readonly lastError: string | null;
}

/** Response of `GET /server/v1/forwarding` of the actlog server. */
export interface Forwarding {
  readonly items: readonly ForwardingState[];
}
