import type { AuditActor } from './audit.ts';

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

/** What a legal hold covers. A record is covered if it matches every part that is given; null is any. */
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
  readonly kind: 'splunk' | 'elastic' | 's3' | 'syslog' | 'otlp';
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
