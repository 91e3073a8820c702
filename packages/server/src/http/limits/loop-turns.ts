/**
 * Limits the pieces of work that run per turn of the event loop, so that other work, such as a health check, waits for
 * at most that many.
 */
export class LoopTurns {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Returns a promise that resolves when the work may run, or `undefined` if it may run at once. */
  take(): Promise<void> | undefined {
    if (this.#taken >= this.#perTurn) return new Promise((resolve) => this.#waiting.push(resolve));
    if (this.#taken === 0) setImmediate(this.#next);
    this.#taken += 1;
    return undefined;
  }

  readonly #next = (): void => {
    const resolves = this.#waiting.splice(0, this.#perTurn);
    this.#taken = resolves.length;
    if (resolves.length === 0) return;
    setImmediate(this.#next);
    for (const resolve of resolves) resolve();
  };
}
