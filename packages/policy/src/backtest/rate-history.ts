import { type RateWindow, windowKey } from '../check/rate.ts';
import type { PastDecision } from './past-decision.ts';

/** Actions that rates have counted in the course of a backtest. */
export class RateHistory {
  /** Number of actions by the start of their slice, for each policy and subject. */
  readonly #slices = new Map<string, Map<number, number>>();
  /** Named actions that were counted, each once. */
  readonly #named = new Set<string>();

  /** Returns the number of actions in each window, by key. */
  countedIn(windows: readonly RateWindow[]): ReadonlyMap<string, number> {
    return new Map(windows.map((window) => [windowKey(window), this.#sum(window)]));
  }

  /** `true` if an earlier check of the same named action was counted. */
  hasCounted(past: PastDecision): boolean {
    return past.actionId !== null && this.#named.has(nameOf(past));
  }

  /** Counts an action in its windows. */
  count(past: PastDecision, windows: readonly RateWindow[]): void {
    if (windows.length === 0) return;
    if (past.actionId !== null) this.#named.add(nameOf(past));
    for (const window of windows) {
      const key = windowKey(window);
      let slices = this.#slices.get(key);
      if (!slices) {
        slices = new Map();
        this.#slices.set(key, slices);
      }
      slices.set(window.sliceMs, (slices.get(window.sliceMs) ?? 0) + 1);
    }
  }

  #sum(window: RateWindow): number {
    const slices = this.#slices.get(windowKey(window));
    if (!slices) return 0;
    let sum = 0;
    for (const [sliceMs, actions] of slices) {
      // Decisions come in order of time, so a slice that has left the window never returns.
      if (sliceMs <= window.sinceMs) slices.delete(sliceMs);
      else if (sliceMs <= window.untilMs) sum += actions;
    }
    return sum;
  }
}

function nameOf({ agentId, actionId }: PastDecision): string {
  return `${agentId} ${actionId}`;
}
