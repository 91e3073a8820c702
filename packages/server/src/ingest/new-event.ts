import type { ActivityEvent, WarningCode } from '@actlog/protocol';
import type { ExceededQuota } from '../quota/quota.ts';

/** A validated event that is not yet stored. */
export interface NewEvent {
  readonly event: ActivityEvent;
  /** The event's JSON, if available. */
  readonly json?: string | undefined;
  /** The event's `sourceTimestamp`, in Unix milliseconds. */
  readonly sourceMs: number;
  /** Time at which the service received the event, in Unix milliseconds. */
  readonly receivedMs: number;
  /** `true` if `__proto__` keys were removed from the body. */
  readonly protoKeysRemoved: boolean;
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
