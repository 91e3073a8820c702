import type { ActivityEvent } from '@actlog/protocol';

/**
 * Why an event was lost:
 *
 * - `full`: memory, or the journal's size limit, was used up and `whenFull` chose this event;
 * - `closed`: only memory held it when the recorder or the process ended, or when it was recorded after `close()`;
 * - `refused`: the service will never take it, and no dead-letter file could keep it.
 */
export type DropReason = 'full' | 'closed' | 'refused';

/** An event that will not arrive, and why. */
export interface DroppedEvent {
  readonly event: ActivityEvent;
  readonly reason: DropReason;
}
