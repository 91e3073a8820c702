/** Milliseconds after which a try is slow. */
const slowAfterMs = 1000;

/** Slow webhooks that are remembered; beyond them the longest remembered is forgotten. */
const remembered = 1000;

/** The webhooks whose receivers take their time or never answer, as this process has seen. */
export class SlowWebhooks {
  readonly #ids = new Set<string>();

  /** Notes how long a try has taken, or takes already: a slow one makes its webhook slow, a quick one ends that. */
  note(channelId: string, tookMs: number): void {
    this.#ids.delete(channelId);
    if (tookMs < slowAfterMs) return;
    if (this.#ids.size >= remembered) this.#ids.delete(this.#ids.values().next().value as string);
    this.#ids.add(channelId);
  }

  /** The same for a try that is under way, which can only turn out slow. */
  noteUnderWay(channelId: string, sinceMs: number, nowMs: number): void {
    if (nowMs - sinceMs >= slowAfterMs) this.note(channelId, nowMs - sinceMs);
  }

  has(channelId: string): boolean {
    return this.#ids.has(channelId);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }
}
