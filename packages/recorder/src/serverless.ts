/** Keeps a serverless function running until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => unknown;

const requestContext = Symbol.for('@vercel/request-context');

/** Returns the platform's own `waitUntil` for the current request, if it provides one. */
export function platformWaitUntil(): WaitUntil | undefined {
  const context = (
    globalThis as { [requestContext]?: { get?: () => { waitUntil?: WaitUntil } | undefined } }
  )[requestContext];
  return context?.get?.()?.waitUntil;
}

/** Passes one flush to the platform for all events that are recorded while it runs. */
export class BackgroundFlush {
  readonly #flush: () => Promise<unknown>;
  readonly #onFailure: (error: Error) => void;
  readonly #waitUntil: WaitUntil | undefined;
  #isRunning = false;
  /** `true` if events were recorded since the last flush started, which may have missed them. */
  #isRequested = false;

  constructor(
    flush: () => Promise<unknown>,
    waitUntil: WaitUntil | undefined,
    onFailure: (error: Error) => void,
  ) {
    this.#flush = flush;
    this.#onFailure = onFailure;
    this.#waitUntil = waitUntil;
  }

  /** Called for each event. */
  request(): void {
    this.#isRequested = true;
    if (this.#isRunning) return;
    try {
      const waitUntil = this.#waitUntil ?? platformWaitUntil();
      if (!waitUntil) return;
      this.#isRunning = true;
      const given = waitUntil(this.#run());
      // An async function is also assignable to this type, and its rejection would end the process.
      if (given instanceof Promise) given.catch((cause: unknown) => this.#failed(cause));
    } catch (cause) {
      this.#failed(cause);
    }
  }

  #failed(cause: unknown): void {
    this.#onFailure(new Error('waitUntil threw; events are delivered without it.', { cause }));
  }

  async #run(): Promise<void> {
    try {
      while (this.#isRequested) {
        this.#isRequested = false;
        await this.#flush();
      }
    } finally {
      this.#isRunning = false;
    }
  }
}

/** Returns a handler whose result or error is delayed until a flush has ended. */
export function flushingOnReturn<Args extends unknown[], Result>(
  handler: (...args: Args) => Result | Promise<Result>,
  flush: () => Promise<unknown>,
): (...args: Args) => Promise<Result> {
  // The handler may be a method.
  return async function (this: unknown, ...args) {
    try {
      return await handler.apply(this, args);
    } finally {
      await flush();
    }
  };
}
