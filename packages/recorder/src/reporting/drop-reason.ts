import type { ActivityEvent } from '@actlog/protocol';

/**
 * Reason why an event was lost:
 *
 * - `full`: memory or the journal's size limit was exhausted, and `whenFull` selected this event;
 * - `closed`: the event was only in memory when the recorder or the process ended, or was recorded after `close()`;
 * - `refused`: the service will never accept it, and no dead-letter file could store it.
 */
export type DropReason = 'full' | 'closed' | 'refused';

/** A lost event and the reason. */
export interface DroppedEvent {
  readonly event: ActivityEvent;
  readonly reason: DropReason;
}
