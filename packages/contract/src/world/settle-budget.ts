/** Part of the budget that all looks in vain may take together, including those after it is used up. */
const longestVainPart = 3;

/**
 * Time that a run may wait in vain for accepted data to appear. All looks share it, so that a deployment that never
 * shows its data does not delay the run again and again. Waiting that ends with success costs nothing, so that a
 * deployment that shows its data late passes.
 */
export class SettleBudget {
  readonly #totalMs: number;
  #vainMs = 0;
  #longestSuccessMs = 0;

  /** `totalMs` is the budget of the whole run. */
  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /**
   * Time that the next look may take, in milliseconds: what is left of the budget, or twice the longest time after
   * which data appeared in this run.
   */
  get allowanceMs(): number {
    if (this.#vainMs >= longestVainPart * this.#totalMs) return 0;
    return Math.max(this.#totalMs - this.#vainMs, Math.min(2 * this.#longestSuccessMs, this.#totalMs));
  }

  /** Records a look that found its data after `tookMs`. */
  found(tookMs: number): void {
    this.#longestSuccessMs = Math.max(this.#longestSuccessMs, tookMs);
  }

  /** Records a look that gave up after `tookMs`. */
  gaveUp(tookMs: number): void {
    this.#vainMs += tookMs;
  }
}
