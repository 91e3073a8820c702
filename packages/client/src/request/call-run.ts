import { longestTimerMs, type TimerHandle } from '../client-options.ts';
import { ActlogError, APIAbortError, APIConnectionError, APITimeoutError } from '../errors/actlog-error.ts';
import { APIError } from '../errors/api-error.ts';
import {
  ApiResponse,
  type BodySink,
  MemorySink,
  type RequestName,
  type ResponseHead,
} from '../response/api-response.ts';
import { NonRetryableError } from '../retry/retry-after.ts';
import type { Settings } from '../settings.ts';
import { Exchange, type Transport } from '../transport/transport.ts';
import { connectionFailure, errorFromResponse } from './attempt-error.ts';
import { checkedSignal, type RequestOptions, timeLimit, wholeNumber } from './request-options.ts';
import type { Outcome } from './request-promise.ts';

/** A prepared call, which can be sent any number of times. */
export interface Call<Data> extends RequestName {
  /** Path prefix, path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `true` if the request may be sent again when it is unknown whether the first one arrived. */
  readonly repeatable: boolean;
  readonly options: RequestOptions;
  /** Converts a successful response to the result of the call. */
  readonly read: (response: ApiResponse) => Data | Promise<Data>;
  /**
   * Creates a destination for the body of a successful response, instead of memory. Called once per attempt. With it,
   * `timeoutMs` limits the time between two chunks and not the whole body, so that large bodies may take longer.
   */
  readonly openSink?: () => BodySink;
}

/** One run of a call: its attempts, delays, time limits and abort signal. */
export class CallRun<Data> {
  readonly #call: Call<Data>;
  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  readonly #deadlineAt: number;
  readonly #maxBytes: number;
  readonly #maxRetryAfterMs: number;
  #attempt = 0;
  /** Cancels the current step: the exchange, a hook or a delay. */
  #stop: ((reason: Error) => void) | undefined;

  constructor(call: Call<Data>, settings: Settings, transport: Transport) {
    this.#call = call;
    this.#settings = settings;
    this.#transport = transport;
    const { options } = call;
    this.#timeoutMs = timeLimit('timeoutMs', options.timeoutMs) ?? settings.timeoutMs;
    const deadlineMs = timeLimit('deadlineMs', options.deadlineMs) ?? settings.deadlineMs;
    this.#maxBytes = wholeNumber('maxResponseBytes', options.maxResponseBytes) ?? settings.maxResponseBytes;
    this.#maxRetryAfterMs =
      wholeNumber('maxRetryAfterMs', options.maxRetryAfterMs) ?? settings.maxRetryAfterMs;
    this.#deadlineAt = deadlineMs === undefined ? Infinity : settings.clock.now() + deadlineMs;
  }

  /** Sends the call until it succeeds, fails for good or has no retry left. */
  async run(): Promise<Outcome<Data>> {
    const { options } = this.#call;
    const retries = wholeNumber('maxRetries', options.maxRetries) ?? this.#settings.maxRetries;
    const signal = checkedSignal(options.signal);
    if (signal?.aborted) throw this.#abortError();
    const onAbort = () => this.#stop?.(this.#abortError());
    signal?.addEventListener('abort', onAbort);
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#runAttempt(attempt);
        } catch (error) {
          if (attempt > retries) throw error;
          await this.#beforeRetry(error, attempt);
        }
      }
    } catch (error) {
      throw error instanceof NonRetryableError ? error.cause : error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #runAttempt(attempt: number): Promise<Outcome<Data>> {
    const { clock, hooks, baseURL } = this.#settings;
    const call = this.#call;
    const { method, path, target, body } = call;
    this.#attempt = attempt;
    const headers = hooks.beforeRequest ? await this.#runBeforeRequest(attempt) : call.headers;
    if (call.options.signal?.aborted) throw this.#abortError();
    const exchange = new Exchange((head) => this.#openSink(head));
    this.#stop = (reason) => exchange.abort(reason);
    const startedAt = clock.now();
    const stopTimer = this.#startTimer(exchange, startedAt);
    let isComplete = false;
    try {
      await this.#transport.send({ method, origin: baseURL.origin, target, headers, body }, exchange);
      isComplete = true;
    } catch (error) {
      if (exchange.abortReason !== undefined) throw exchange.abortReason;
      // An error status is more informative than the body that broke off after it.
      if (!exchange.head || exchange.head.status < 400) {
        throw connectionFailure(error, exchange, call, attempt, baseURL.origin);
      }
    } finally {
      stopTimer();
      this.#stop = undefined;
    }
    const { head, sink } = exchange;
    const kept = isComplete && sink instanceof MemorySink ? sink : undefined;
    const response = new ApiResponse({ method, path }, head as ResponseHead, kept, attempt);
    const reported = this.#report(response, clock.now() - startedAt);
    if (reported) await reported;
    if (!isSuccess(response.head)) throw errorFromResponse(response, clock.wallClock());
    return { data: await call.read(response), response };
  }

  /** Passes a response to the log and the hook. Returns undefined if there is nothing to wait for. */
  #report(response: ApiResponse, durationMs: number): void | Promise<void> {
    const { hooks, logger } = this.#settings;
    if (!hooks.afterResponse && !logger.isDebugging) return;
    const { requestId, attempt, request, head } = response;
    const fields = { ...request, status: head.status, requestId, attempt, durationMs };
    logger.log('debug', 'response received', fields);
    if (!hooks.afterResponse) return;
    return this.#callHook(() => hooks.afterResponse?.({ ...fields, headers: head.toHeaders() }), true);
  }

  #openSink(head: ResponseHead): BodySink {
    const own = isSuccess(head) ? this.#call.openSink?.() : undefined;
    return own ?? new MemorySink(this.#maxBytes);
  }

  async #runBeforeRequest(attempt: number): Promise<Record<string, string>> {
    const { method, target, headers } = this.#call;
    const { hooks, baseURL } = this.#settings;
    const request = { method, url: baseURL.origin + target, headers: { ...headers }, attempt };
    await this.#callHook(() => hooks.beforeRequest?.(request), attempt > 1);
    return request.headers;
  }

  /**
   * Calls a hook and waits for it until the signal aborts or the deadline passes. An error thrown by the hook ends the
   * call.
   *
   * @param maybeSent Value of `maybeSent` in the error when the deadline passes.
   */
  #callHook(hook: () => void | Promise<void>, maybeSent: boolean): Promise<void> {
    const { clock } = this.#settings;
    const called = (async () => hook())();
    return this.#wait((resolve, reject) => {
      const fail = (cause: unknown) => reject(new NonRetryableError('', { cause }));
      called.then(resolve, fail);
      if (this.#deadlineAt === Infinity) return undefined;
      const onTime = () => fail(this.#timeoutError(deadlineExceeded, maybeSent));
      return clock.setTimeout(onTime, Math.max(0, this.#deadlineAt - clock.now()));
    });
  }

  /**
   * Starts one timer for the attempt, including its body. If the body goes to the call's own sink, the timer limits the
   * time between two chunks.
   */
  #startTimer(exchange: Exchange, startedAt: number): () => void {
    const { clock } = this.#settings;
    let timer: TimerHandle;
    let lastChunkAt = startedAt;
    const attemptEndsAt = () => lastChunkAt + this.#timeoutMs;
    const leftMs = () => Math.min(attemptEndsAt(), this.#deadlineAt) - clock.now();
    const arm = () => {
      const from = lastChunkAt;
      timer = clock.setTimeout(() => onTime(from), Math.max(0, Math.min(leftMs(), longestTimerMs)));
    };
    const onTime = (from: number) => {
      if (lastChunkAt > from && leftMs() > 0) return arm();
      // Do not compare with the clock: a timer may fire slightly before it.
      const problem =
        this.#deadlineAt <= attemptEndsAt()
          ? deadlineExceeded
          : `${unfinishedStep(exchange)} ${this.#timeoutMs} ms (timeoutMs)`;
      exchange.abort(this.#timeoutError(problem, exchange.maybeSent, exchange.head?.status));
    };
    exchange.onChunk = () => {
      if (!(exchange.sink instanceof MemorySink)) lastChunkAt = clock.now();
    };
    arm();
    return () => clock.clearTimeout(timer);
  }

  /** Waits for the delay before a retry, or throws the error if it is final. */
  async #beforeRetry(error: unknown, attempt: number): Promise<void> {
    const { clock, hooks, logger } = this.#settings;
    const { repeatable, method, path } = this.#call;
    const rules = { repeatable, maxRetryAfterMs: this.#maxRetryAfterMs };
    const delayMs = retryDelayMs(error, rules, attempt, clock.random());
    if (delayMs === undefined || !(error instanceof ActlogError)) throw error;
    // A retry after the deadline is pointless, so the caller gets the error now.
    const isTooLate = () => clock.now() + delayMs >= this.#deadlineAt;
    if (isTooLate()) throw error;
    const { status, code, requestId } = error;
    logger.log('info', 'retrying', { method, path, status, code, requestId, attempt, delayMs });
    if (hooks.onRetry) await this.#callHook(() => hooks.onRetry?.({ error, attempt, delayMs }), true);
    if (isTooLate()) throw error; // the hook may have used up the time
    await this.#wait((resolve) => (delayMs > 0 ? clock.setTimeout(resolve, delayMs) : resolve()));
  }

  /**
   * Waits until `start` calls back or the signal aborts.
   *
   * @param start Returns the timer it started, if any, which is cleared afterwards.
   */
  async #wait(start: (resolve: () => void, reject: (reason: Error) => void) => TimerHandle): Promise<void> {
    const { signal } = this.#call.options;
    let timer: TimerHandle;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#stop = reject;
        if (signal?.aborted) reject(this.#abortError());
        timer = start(resolve, reject);
      });
    } finally {
      this.#stop = undefined;
      this.#settings.clock.clearTimeout(timer);
    }
  }

  #abortError(): APIAbortError {
    const { method, path, options } = this.#call;
    return new APIAbortError(`${method} ${path} was aborted by its signal.`, {
      method,
      path,
      attempts: this.#attempt,
      cause: options.signal?.reason,
    });
  }

  #timeoutError(problem: string, maybeSent: boolean, status?: number): APITimeoutError {
    const { method, path } = this.#call;
    const context = { method, path, status, attempts: this.#attempt, maybeSent };
    return new APITimeoutError(`${method} ${path}: ${problem}.`, context);
  }
}

const deadlineExceeded = 'deadlineMs exceeded';

/** Describes the step that did not finish within `timeoutMs`. */
function unfinishedStep({ maybeSent, sink }: Exchange): string {
  if (!maybeSent) return 'no connection within';
  return !sink || sink instanceof MemorySink
    ? 'no complete response within'
    : 'no further chunk of the response within';
}

/**
 * A fetch with `redirect: 'manual'` reports a redirect in a browser as status 0 (Fetch standard, "opaque-redirect").
 */
function isSuccess({ status }: ResponseHead): boolean {
  return status >= 200 && status < 300;
}

/** Upper bound of the first delay, in milliseconds. */
const firstDelayMs = 500;

/** Upper bound of every delay, in milliseconds, unless the service asks for more. */
const longestDelayMs = 8_000;

/**
 * Returns a delay by exponential backoff with full jitter: a random time between 0 and a bound that doubles with every
 * retry. Full jitter spreads the retries of many clients that failed at the same moment.
 *
 * @param retry 1 for the first retry.
 * @param random Number from 0 (inclusive) to 1 (exclusive).
 */
function backoffMs(retry: number, random: number): number {
  return Math.floor(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (retry - 1)));
}

/** Inputs of the retry decision. */
interface RetryRules {
  /** `true` if sending the request twice has the same effect as sending it once. */
  readonly repeatable: boolean;
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfterMs: number;
}

/** Statuses that the specification says to retry ("Retry guidance for clients"). */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns the delay before the next attempt in milliseconds, or undefined if the failure is final.
 *
 * A response is retried by its status alone, as the specification says. A failed connection is retried if the request
 * certainly was not sent, or if repeating it is harmless. `Retry-After` is followed to the millisecond; if it exceeds
 * the limit, the call fails at once, because an earlier retry would only be rejected again.
 *
 * @param retry 1 for the first retry.
 * @param random Number from 0 (inclusive) to 1 (exclusive).
 */
export function retryDelayMs(
  error: unknown,
  rules: RetryRules,
  retry: number,
  random: number,
): number | undefined {
  if (error instanceof APIError) {
    if (!retryableStatuses.has(error.status)) return undefined;
    const { retryAfterMs } = error;
    if (retryAfterMs === undefined) return backoffMs(retry, random);
    return retryAfterMs > rules.maxRetryAfterMs ? undefined : retryAfterMs;
  }
  if (!(error instanceof APIConnectionError) || error.code === 'TLS_FAILED') return undefined;
  return !error.maybeSent || rules.repeatable ? backoffMs(retry, random) : undefined;
}
