/** An object with which a tool may suspend itself. */
export interface Suspending {
  readonly suspend?: (...args: unknown[]) => unknown;
}

/** Detects whether a call is suspended, because a suspended tool returns undefined like one that has ended. */
export class SuspensionWatch {
  #isSuspended = false;
  readonly #undo: (() => void)[] = [];

  /** @param given - all objects with which a tool may suspend itself; they keep working */
  constructor(...given: (Suspending | undefined)[]) {
    for (const each of given) if (each?.suspend) this.#watch(each, each.suspend);
  }

  /** `true` if the tool has been suspended. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Restores the objects, unless they were changed again meanwhile. */
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
