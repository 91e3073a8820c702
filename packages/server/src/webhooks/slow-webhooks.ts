/** Duration from which an attempt counts as slow, in milliseconds. */
const slowAfterMs = 1000;

/** Maximum number of slow webhooks that are remembered; the oldest is dropped. */
const maxRemembered = 1000;

/** Webhooks whose receivers responded slowly, or not at all, to this process. */
export class SlowWebhooks {
  readonly #ids = new Set<string>();

  /** Records the duration of an attempt. A slow one marks its webhook as slow, and a fast one removes the mark. */
  record(channelId: string, tookMs: number): void {
    this.#ids.delete(channelId);
    if (tookMs < slowAfterMs) return;
    if (this.#ids.size >= maxRemembered) this.#ids.delete(this.#ids.values().next().value as string);
    this.#ids.add(channelId);
  }

  /** Records the duration so far of an attempt in progress, which counts only if it is already slow. */
  recordInProgress(channelId: string, sinceMs: number, nowMs: number): void {
    if (nowMs - sinceMs >= slowAfterMs) this.record(channelId, nowMs - sinceMs);
  }

  has(channelId: string): boolean {
    return this.#ids.has(channelId);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }
}
