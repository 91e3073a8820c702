import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { processWide } from './lib/process-wide.ts';

/** Keeps a serverless function running until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => unknown;

const requestContext = Symbol.for('@vercel/request-context');

/** Returns the platform's `waitUntil` for the current request, if it provides one. */
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

  /** Starts to wait for delivery, unless it waits already. Called for each event. */
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

/** Mark of a handler that `awslambda.streamifyResponse` has been called with. */
const lambdaStreaming = Symbol.for('aws.lambda.runtime.handler.streaming');

/**
 * Returns a handler whose result or error is delayed until a flush has ended. If the result is streamed, so is its end,
 * because tools run while it is. The properties of the handler, such as marks of the platform, are kept.
 */
export function flushingOnReturn<Args extends unknown[], Result>(
  handler: (...args: Args) => Result | Promise<Result>,
  flush: () => Promise<unknown>,
): (...args: Args) => Promise<Result> {
  // The handler may be a method.
  const flushing = async function (this: unknown, ...args: Args): Promise<Result> {
    try {
      const result = await handler.apply(this, args);
      if (lambdaStreaming in flushing) await endOf(args[1]);
      return withFlushedEnd(result, flush) ?? result;
    } finally {
      // Also before a stream, which may never be read.
      await flush();
    }
  };
  for (const key of Reflect.ownKeys(handler)) {
    const own = Object.getOwnPropertyDescriptor(handler, key);
    if (own && !Object.hasOwn(flushing, key)) Object.defineProperty(flushing, key, own);
  }
  return flushing;
}

/** Returns a streamed result whose stream ends after a flush; undefined for any other result. */
function withFlushedEnd<Result>(result: Result, flush: () => Promise<unknown>): Result | undefined {
  if (result instanceof ReadableStream) return flushedStream(result, flush) as Result;
  if (typeof result !== 'object' || result === null) return undefined;
  const { body, status, statusText, headers } = result as unknown as Response;
  if (!(body instanceof ReadableStream) || body.locked || typeof status !== 'number') return undefined;
  // A framework may have its own class of responses.
  const Class = result.constructor as typeof Response;
  return new Class(flushedStream(body, flush), { status, statusText, headers }) as Result;
}

function flushedStream(stream: ReadableStream, flush: () => Promise<unknown>): ReadableStream {
  const reader = stream.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          await flush();
          controller.close();
        } catch (error) {
          await flush();
          controller.error(error);
        }
      },
      async cancel(reason) {
        await reader.cancel(reason).finally(flush);
      },
    },
    // Reads nothing before the consumer does, as without this stream.
    { highWaterMark: 0 },
  );
}

/** Resolves when the response stream of a Lambda function has ended or failed. */
async function endOf(stream: unknown): Promise<void> {
  if (stream instanceof Writable) await finished(stream).catch(() => {});
}

/** Receiver of process exit notifications. */
export interface ExitAware {
  /** Called when the event loop is empty. */
  beforeExit(): void;
  /** Called when the process exits; only synchronous work is done. */
  exit(): void;
}

/** Registered receivers and the process listeners that notify them. */
interface ExitHooks {
  readonly registered: Set<ExitAware>;
  readonly beforeExit: () => void;
  readonly exit: () => void;
}

/** Shared by all copies of this package (hot reload, a second version), because a listener per copy would be a leak. */
const exitHooks = processWide('@actlog/recorder/exit-hooks', (): ExitHooks => {
  const registered = new Set<ExitAware>();
  return {
    registered,
    beforeExit: () => {
      for (const one of [...registered]) safely(() => one.beforeExit());
    },
    exit: () => {
      for (const one of [...registered]) safely(() => one.exit());
    },
  };
});

/** Calls a receiver, whose error must not affect the others or the exit code. */
function safely(end: () => void): void {
  try {
    end();
  } catch (error) {
    console.warn(
      `[actlog] A recorder could not be closed at exit: ${error instanceof Error ? error.name : 'a value'}.`,
    );
  }
}

/**
 * Registers a receiver for the end of the process. All copies of this package share one listener. There is none for
 * signals or uncaught errors, so their handling and the exit code stay the user's.
 */
export function onExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.size === 0) {
    process.on('beforeExit', beforeExit);
    process.on('exit', exit);
  }
  registered.add(one);
}

/** Unregisters a receiver of {@link onExit}. */
export function offExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.delete(one) && registered.size === 0) {
    process.off('beforeExit', beforeExit);
    process.off('exit', exit);
  }
}
