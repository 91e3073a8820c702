import type { ArrivedEvent } from '@actlog/policy';
import type { WarningCode } from '@actlog/protocol';
import type { ExceededQuota } from '../quota/quota.ts';

/** A validated event that is not yet stored. */
export interface NewEvent extends ArrivedEvent {
  /** The event's JSON, if available. */
  readonly json?: string | undefined;
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
