import type { StoredChannel } from '../storage/stores/channel-store.ts';

/**
 * Time of uninterrupted failure after which a webhook is disabled, once all attempts of a message have failed, in
 * milliseconds. A single failure is not enough, because nothing may have been sent for a long time before it.
 */
const disabledAfterMs = 5 * 24 * 3_600_000;

/** Returns a webhook's status after a failed attempt. A 410, or a message's last failed attempt, may disable it. */
export function changesAfterFailure(
  channel: StoredChannel,
  { isGone, isLast, nowMs }: { readonly isGone: boolean; readonly isLast: boolean; readonly nowMs: number },
) {
  const sinceMs = channel.failing_since_ms ?? nowMs;
  const isDisabled = isGone || (isLast && nowMs - sinceMs >= disabledAfterMs);
  return {
    failure_count: channel.failure_count + 1,
    failing_since_ms: sinceMs,
    ...(isDisabled && { status: 'disabled' as const }),
  };
}
