/** What a tool may suspend itself by. */
export interface Suspending {
  readonly suspend?: (...args: unknown[]) => unknown;
}

/** Watches whether a call is suspended: a tool that is returns nothing, as others do that have ended. */
export class SuspensionWatch {
  #isSuspended = false;
  readonly #undo: (() => void)[] = [];

  /** @param given - all that a tool may suspend itself by; it still can, by the same objects */
  constructor(...given: (Suspending | undefined)[]) {
    for (const each of given) if (each?.suspend) this.#watch(each, each.suspend);
  }

  /** Whether the tool was suspended by now. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Leaves what was given as it was, unless somebody else has changed it meanwhile. */
  end(): void {
    for (const undo of this.#undo) undo();
  }

  #watch(given: Suspending, suspend: NonNullable<Suspending['suspend']>): void {
    const watched = (...args: unknown[]) => {
      this.#isSuspended = true;
      return suspend.apply(given, args);
    };
    Reflect.set(given, 'suspend', watched);
    this.#undo.push(() => {
      if (given.suspend === watched) Reflect.set(given, 'suspend', suspend);
    });
  }
}
