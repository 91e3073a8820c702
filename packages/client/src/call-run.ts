import pRetry, { type RetryContext } from 'p-retry';
import { checkedSignal } from './abort-signal.ts';
import { Answer } from './answer.ts';
import { type BodySink, MemorySink } from './body-sink.ts';
import type { Call, Outcome } from './call.ts';
import { longestTimerMs, type TimerHandle } from './clock.ts';
import { connectionFailure } from './connection-failure.ts';
import { errorFromAnswer } from './error-answer.ts';
import { ActlogError } from './errors/actlog-error.ts';
import { APIAbortError } from './errors/api-abort-error.ts';
import { APITimeoutError } from './errors/api-timeout-error.ts';
import { Exchange } from './exchange.ts';
import { FinalFailure } from './final-failure.ts';
import type { ResponseHead } from './response-head.ts';
import { retryDelayMs } from './retry-plan.ts';
import { type Settings, timeLimit, wholeNumber } from './settings.ts';
import type { Transport } from './transport.ts';

/** One call on its way: its tries, its waits, its time limits and its abort signal. */
export class CallRun<Data> {
  readonly #call: Call<Data>;
  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  readonly #deadlineAt: number;
  readonly #mostBytes: number;
  readonly #maxRetryAfterMs: number;
  #attempt = 0;
  /** What ends the present step at once: the exchange, a hook's time or a wait. */
  #stop: ((reason: Error) => void) | undefined;

  constructor(call: Call<Data>, settings: Settings, transport: Transport) {
    this.#call = call;
    this.#settings = settings;
    this.#transport = transport;
    const { options } = call;
    this.#timeoutMs = timeLimit('timeoutMs', options.timeoutMs) ?? settings.timeoutMs;
    const deadlineMs = timeLimit('deadlineMs', options.deadlineMs) ?? settings.deadlineMs;
    this.#mostBytes = wholeNumber('maxResponseBytes', options.maxResponseBytes) ?? settings.maxResponseBytes;
    this.#maxRetryAfterMs =
      wholeNumber('maxRetryAfterMs', options.maxRetryAfterMs) ?? settings.maxRetryAfterMs;
    this.#deadlineAt = deadlineMs === undefined ? Infinity : settings.clock.now() + deadlineMs;
  }

  /** Tries until there is a result, a final error, or no retry left. */
  async run(): Promise<Outcome<Data>> {
    const { options } = this.#call;
    const retries = wholeNumber('maxRetries', options.maxRetries) ?? this.#settings.maxRetries;
    const signal = checkedSignal(options.signal);
    if (signal?.aborted) throw this.#abortError();
    const onAbort = () => this.#stop?.(this.#abortError());
    signal?.addEventListener('abort', onAbort);
    try {
      return await pRetry((attempt) => this.#try(attempt), {
        retries,
        minTimeout: 0, // the wait is our own, in onFailedAttempt
        onFailedAttempt: (failed) => this.#beforeRetry(failed),
      });
    } catch (error) {
      throw error instanceof FinalFailure ? error.cause : error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #try(attempt: number): Promise<Outcome<Data>> {
    const { clock, hooks, baseURL } = this.#settings;
    const call = this.#call;
    const { method, path, target, body } = call;
    this.#attempt = attempt;
    const headers = hooks.beforeRequest ? await this.#askHook(attempt) : call.headers;
    if (call.options.signal?.aborted) throw this.#abortError();
    const exchange = new Exchange((head) => this.#openSink(head));
    this.#stop = (reason) => exchange.abort(reason);
    const startedAt = clock.now();
    const stopTimer = this.#startTimer(exchange, startedAt);
    let isWhole = false;
    try {
      await this.#transport.send({ method, origin: baseURL.origin, target, headers, body }, exchange);
      isWhole = true;
    } catch (error) {
      if (exchange.abortReason !== undefined) throw exchange.abortReason;
      // A status of failure says more than the body that broke off behind it.
      if (!exchange.head || exchange.head.status < 400) {
        throw connectionFailure(error, exchange, call, attempt, baseURL.origin);
      }
    } finally {
      stopTimer();
      this.#stop = undefined;
    }
    const { head, sink } = exchange;
    const kept = isWhole && sink instanceof MemorySink ? sink : undefined;
    const answer = new Answer({ method, path }, head as ResponseHead, kept, attempt);
    const told = this.#tell(answer, clock.now() - startedAt);
    if (told) await told;
    if (!isSuccess(answer.head)) throw errorFromAnswer(answer, clock.wallClock());
    return { data: await call.read(answer), answer };
  }

  /** Tells the log and the hook of an answer; undefined when nobody has to be waited for. */
  #tell(answer: Answer, durationMs: number): void | Promise<void> {
    const { hooks, logger } = this.#settings;
    if (!hooks.afterResponse && !logger.wants('debug')) return;
    const { requestId, attempt, request, head } = answer;
    const fields = { ...request, status: head.status, requestId, attempt, durationMs };
    logger.log('debug', 'answered', fields);
    if (!hooks.afterResponse) return;
    return this.#callHook(() => hooks.afterResponse?.({ ...fields, headers: head.toHeaders() }), true);
  }

  #openSink(head: ResponseHead): BodySink {
    const own = isSuccess(head) ? this.#call.openSink?.() : undefined;
    return own ?? new MemorySink(this.#mostBytes);
  }

  async #askHook(attempt: number): Promise<Record<string, string>> {
    const { method, target, headers } = this.#call;
    const { hooks, baseURL } = this.#settings;
    const request = { method, url: baseURL.origin + target, headers: { ...headers }, attempt };
    await this.#callHook(() => hooks.beforeRequest?.(request), attempt > 1);
    return request.headers;
  }

  /**
   * Calls a hook, and waits for it unless the signal aborts or the deadline ends. What it throws ends the call.
   *
   * @param maybeSent What an error says when the deadline ends.
   */
  #callHook(hook: () => void | Promise<void>, maybeSent: boolean): Promise<void> {
    const { clock } = this.#settings;
    const called = (async () => hook())();
    return this.#wait((resolve, reject) => {
      const fail = (cause: unknown) => reject(new FinalFailure('', { cause }));
      called.then(resolve, fail);
      if (this.#deadlineAt === Infinity) return undefined;
      const onTime = () => fail(this.#timeoutError(outOfTime, maybeSent));
      return clock.setTimeout(onTime, Math.max(0, this.#deadlineAt - clock.now()));
    });
  }

  /** One timer bounds the try, its body included. Where the body goes to the call's sink, it bounds each silence. */
  #startTimer(exchange: Exchange, startedAt: number): () => void {
    const { clock } = this.#settings;
    let timer: TimerHandle;
    let heardAt = startedAt;
    const tryEndsAt = () => heardAt + this.#timeoutMs;
    const leftMs = () => Math.min(tryEndsAt(), this.#deadlineAt) - clock.now();
    const arm = () => {
      const from = heardAt;
      timer = clock.setTimeout(() => onTime(from), Math.max(0, Math.min(leftMs(), longestTimerMs)));
    };
    const onTime = (from: number) => {
      if (heardAt > from && leftMs() > 0) return arm();
      // Not by the clock: a timer may fire a little before it says that the time has come.
      const problem =
        this.#deadlineAt <= tryEndsAt() ? outOfTime : `${missed(exchange)} ${this.#timeoutMs} ms (timeoutMs)`;
      exchange.abort(this.#timeoutError(problem, exchange.maybeSent, exchange.head?.status));
    };
    exchange.onPiece = () => {
      if (!(exchange.sink instanceof MemorySink)) heardAt = clock.now();
    };
    arm();
    return () => clock.clearTimeout(timer);
  }

  /** Waits as long as the plan says; throws the error when it is final. */
  async #beforeRetry({ error, attemptNumber, retriesLeft }: RetryContext): Promise<void> {
    if (retriesLeft <= 0) return; // p-retry throws the error itself
    const { clock, hooks, logger } = this.#settings;
    const { repeatable, method, path } = this.#call;
    const rules = { repeatable, maxRetryAfterMs: this.#maxRetryAfterMs };
    const delayMs = retryDelayMs(error, rules, attemptNumber, clock.random());
    if (delayMs === undefined || !(error instanceof ActlogError)) throw error;
    // A wait that ends behind the deadline helps nobody: the caller learns of the failure now.
    const isTooLate = () => clock.now() + delayMs >= this.#deadlineAt;
    if (isTooLate()) throw error;
    const { status, code, requestId } = error;
    const attempt = attemptNumber;
    logger.log('info', 'trying again', { method, path, status, code, requestId, attempt, delayMs });
    if (hooks.onRetry) await this.#callHook(() => hooks.onRetry?.({ error, attempt, delayMs }), true);
    if (isTooLate()) throw error; // the hook took its time
    await this.#wait((resolve) => (delayMs > 0 ? clock.setTimeout(resolve, delayMs) : resolve()));
  }

  /**
   * Waits until the given function calls back, or the signal aborts.
   *
   * @param start Gives the timer that it started, if any, which ends with the wait.
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

const outOfTime = 'its deadlineMs ran out';

/** What did not happen within `timeoutMs`. */
function missed({ maybeSent, sink }: Exchange): string {
  if (!maybeSent) return 'no connection to send it over within';
  return !sink || sink instanceof MemorySink ? 'no whole answer within' : 'no more of the answer within';
}

/** A page that does not follow redirects itself shows one as status 0 (Fetch standard, "opaque-redirect"). */
function isSuccess({ status }: ResponseHead): boolean {
  return status >= 200 && status < 300;
}
