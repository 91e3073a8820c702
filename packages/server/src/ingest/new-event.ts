import type { ActivityEvent, WarningCode } from '@actlog/protocol';
import type { ExceededQuota } from '../quota/quota.ts';

/** A valid event on its way into the database. */
export interface NewEvent {
  readonly event: ActivityEvent;
  /** The same in JSON, where it is at hand. */
  readonly json?: string | undefined;
  /** Its `sourceTimestamp`, in milliseconds since the epoch. */
  readonly sourceMs: number;
  /** When the service took it. */
  readonly receivedMs: number;
  /** Whether the body held `__proto__` keys, which were taken out. */
  readonly protoKeysRemoved: boolean;
}

/** What became of an event. */
export interface RecordedEvent {
  /** When the service first took an event of this id. */
  readonly receivedMs: number;
  readonly warnings: readonly WarningCode[];
  /** False for a repeat, which changed nothing. */
  readonly isNew: boolean;
}

/** An event that was not stored, because a quota of its tenant has no room. */
export interface RefusedEvent {
  readonly refused: ExceededQuota;
}

/** What became of an event of a caller. */
export type EventOutcome = RecordedEvent | RefusedEvent;
