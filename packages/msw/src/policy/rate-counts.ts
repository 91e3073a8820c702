import { type RateWindow, windowKey } from '@actlog/policy';

/** Counts of actions for the rates of policies, in slices of time as on the reference server. */
export class RateCounts {
  /** Numbers of actions by the start of their slice, for each counted subject. */
  readonly #slices = new Map<string, Map<number, number>>();

  /** Returns the number of actions in each window, by key. */
  countedIn(windows: readonly RateWindow[]): ReadonlyMap<string, number> {
    return new Map(
      windows.map((window) => {
        const { sinceMs, untilMs } = window;
        const slices = [...(this.#slices.get(windowKey(window)) ?? [])];
        const counted = slices.filter(([sliceMs]) => sliceMs > sinceMs && sliceMs <= untilMs);
        return [windowKey(window), counted.reduce((sum, [, actions]) => sum + actions, 0)];
      }),
    );
  }

  /** Counts one action in each window. */
  count(windows: readonly RateWindow[]): void {
    for (const window of windows) {
      const slices = this.#slices.get(windowKey(window)) ?? new Map<number, number>();
      slices.set(window.sliceMs, (slices.get(window.sliceMs) ?? 0) + 1);
      this.#slices.set(windowKey(window), slices);
    }
  }
}
