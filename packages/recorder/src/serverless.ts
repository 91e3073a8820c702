/** Keeps a serverless function running until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => unknown;

const requestContext = Symbol.for('@vercel/request-context');

/** The platform's own `waitUntil` for the request that is being answered, where the platform offers one. */
export function platformWaitUntil(): WaitUntil | undefined {
  const context = (
    globalThis as { [requestContext]?: { get?: () => { waitUntil?: WaitUntil } | undefined } }
  )[requestContext];
  return context?.get?.()?.waitUntil;
}

/** Hands one flush to the platform for any number of events that come while it runs. */
export class BackgroundFlush {
  readonly #flush: () => Promise<unknown>;
  readonly #onFailure: (error: Error) => void;
  readonly #waitUntil: WaitUntil | undefined;
  #isRunning = false;
  /** Whether events came since the last flush began: it may have ended without them. */
  #isAskedAgain = false;

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
    this.#isAskedAgain = true;
    if (this.#isRunning) return;
    try {
      const waitUntil = this.#waitUntil ?? platformWaitUntil();
      if (!waitUntil) return;
      this.#isRunning = true;
      const given = waitUntil(this.#run());
      // An async function is one that returns nothing, too; what it rejects with would end the process.
      if (given instanceof Promise) given.catch((cause: unknown) => this.#failed(cause));
    } catch (cause) {
      this.#failed(cause);
    }
  }

  #failed(cause: unknown): void {
    this.#onFailure(new Error('waitUntil threw: events are delivered as without it.', { cause }));
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAskedAgain) {
        this.#isAskedAgain = false;
        await this.#flush();
      }
    } finally {
      this.#isRunning = false;
    }
  }
}

/** A handler whose result, or what it throws, is held back until a flush has ended. */
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
