import { mix32 } from '../codec/hash32.ts';

const CELLS = 32;

/**
 * Counts repetitions of the same call, for any number of different calls, in 32 counters. The hash of a call selects
 * its counter (count-min sketch with one row). Never underestimates.
 */
export class RepeatSketch {
  readonly cells: number[];

  /** @param cells The counters; all zero by default. */
  constructor(cells: number[] = new Array<number>(CELLS).fill(0)) {
    this.cells = cells;
  }

  /** Counts one call. */
  add(callHash: number): void {
    const at = mix32(callHash) % CELLS;
    this.cells[at] = (this.cells[at] as number) + 1;
  }

  /** `true` if any call may have been made that many times. */
  mayHold(times: number): boolean {
    return this.cells.some((count) => count >= times);
  }

  /**
   * Estimates the number of calls: the counter minus the expected contribution of other calls. The estimate is exact
   * while the session has few different calls, and 0 for calls that are indistinguishable from the rest.
   */
  estimate(callHash: number): number {
    const at = mix32(callHash) % CELLS;
    const own = this.cells[at] as number;
    const all = this.cells.reduce((sum, count) => sum + count, 0);
    const background = (all - own) / (CELLS - 1);
    return Math.max(0, Math.round(own - background - 4 * Math.sqrt(background)));
  }
}
