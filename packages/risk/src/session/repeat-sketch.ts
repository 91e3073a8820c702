import { mix32 } from '../codec/hash32.ts';

const CELLS = 32;

/**
 * How often the same call was made, for any number of different calls, in 32 counters: one counter a call, chosen
 * by its hash (count-min sketch of one row). Never below the true count.
 */
export class RepeatSketch {
  readonly cells: number[];

  /** @param cells The counters, all zero by default. */
  constructor(cells: number[] = new Array<number>(CELLS).fill(0)) {
    this.cells = cells;
  }

  /** Counts one call. */
  add(callHash: number): void {
    const at = mix32(callHash) % CELLS;
    this.cells[at] = (this.cells[at] as number) + 1;
  }

  /** Whether any call may have been made so often. */
  mayHold(times: number): boolean {
    return this.cells.some((count) => count >= times);
  }

  /**
   * How often the call was made, less what other calls add to its counter on average and by chance: the exact count
   * while the session has few different calls, and 0 for calls that can't be told from the crowd.
   */
  estimate(callHash: number): number {
    const at = mix32(callHash) % CELLS;
    const own = this.cells[at] as number;
    const all = this.cells.reduce((sum, count) => sum + count, 0);
    const background = (all - own) / (CELLS - 1);
    return Math.max(0, Math.round(own - background - 4 * Math.sqrt(background)));
  }
}
