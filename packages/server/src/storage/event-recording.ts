import type { ArrivedEvent } from '@actlog/policy';
import type { RiskLevel, WarningCode } from '@actlog/protocol';
import type { Appended, AppendOptions } from './log/tenant-log.ts';
import type { ExceededQuota } from './stores/quota-store.ts';

/** A validated event that is not yet stored. */
export interface NewEvent extends ArrivedEvent {
  /** The event's JSON, if available. */
  readonly json?: string | undefined;
  /** Verified identity of the sender, as JSON; none by default. */
  readonly identity?: string | null | undefined;
  /** W3C `traceparent` of the call; none by default. */
  readonly traceparent?: string | null | undefined;
}

/** Outcome of an event that was stored, now or before. */
export interface RecordedEvent {
  /** Time at which the service first received an event with this id, in Unix milliseconds. */
  readonly receivedMs: number;
  readonly warnings: readonly WarningCode[];
  /** `false` for a repeat, which changed nothing. */
  readonly isNew: boolean;
}

/** Outcome of an event that was not stored because of a quota. */
export interface RefusedEvent {
  readonly refused: ExceededQuota;
}

/** Outcome of an event. */
export type EventOutcome = RecordedEvent | RefusedEvent;

/** Events of one tenant that share a transaction. */
export interface EventGroup {
  readonly tenantId: number;
  readonly events: readonly NewEvent[];
}

/** Outcomes of the events of each group, and work left to do. */
export interface RecordedGroups {
  readonly outcomes: readonly (readonly EventOutcome[])[];
  /** `true` if messages to webhooks were queued and must be sent. */
  readonly hasQueuedMessages: boolean;
  /** Number of sessions that still must be scored. */
  readonly unscored: number;
  /** Sessions that reached a risk level, by that level. */
  readonly reached: ReachedLevels;
}

/** Numbers of sessions by risk level. */
export type ReachedLevels = Partial<Record<RiskLevel, number>>;

/** Work left after some sessions were scored. */
export type ScoringBacklog = Omit<RecordedGroups, 'outcomes'>;

/** Records events in separate transactions and scores sessions, with caches that last between the transactions. */
export interface EventRecording {
  /** Records events in one transaction. */
  record(groups: readonly EventGroup[]): Promise<RecordedGroups>;
  /** Scores sessions that have unscored events, and the given ones. */
  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog>;
}

/** A recording on one connection, which must drop its caches after a write of sessions by another way. */
export interface CachedRecording extends EventRecording {
  /** Appends some records that wait to the log of a tenant; see `Storage`. */
  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined>;
  forget(): void;
}
