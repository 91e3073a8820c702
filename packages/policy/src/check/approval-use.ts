/**
 * Time after the use of a single-use approval in which a repeat of the same check still gets `allow`, in
 * milliseconds.
 */
export const approvalRepeatMs = 60_000;

/** Record of the check that used a single-use approval. */
export interface ApprovalUse {
  /** The `actionId` of the check; null for a check without one, which cannot be repeated. */
  readonly actionId: string | null;
  /** Time at which the check got its first `allow`, in Unix milliseconds. */
  readonly usedMs: number;
}

/**
 * Returns `true` if a single-use approval can no longer be used by a check: another check used it, or the time for
 * repeats is over. A guard repeats a check when it did not receive the response.
 */
export function isUsedUp(use: ApprovalUse, actionId: string | undefined, nowMs: number): boolean {
  const isRepeat = actionId !== undefined && use.actionId === actionId;
  return !isRepeat || nowMs - use.usedMs > approvalRepeatMs;
}
