import pRetry, { type RetryContext } from 'p-retry';
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
  #exchange: Exchange | undefined;
  #body: MemorySink | undefined;
  #wake: (() => void) | undefined;

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
    const { signal } = options;
    if (signal?.aborted) throw this.#abortError();
    const onAbort = () => {
      this.#wake?.();
      this.#exchange?.abort(this.#abortError());
    };
    signal?.addEventListener('abort', onAbort);
    try {
      return await pRetry((attempt) => this.#try(attempt), {
        retries,
        minTimeout: 0, // the wait is our own, in onFailedAttempt
        onFailedAttempt: (failed) => this.#beforeRetry(failed),
      });
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
    this.#exchange = exchange;
    const startedAt = clock.now();
    const stopTimer = this.#startTimer(exchange, startedAt);
    try {
      await this.#transport.send({ method, origin: baseURL.origin, target, headers, body }, exchange);
    } catch (error) {
      if (exchange.abortReason !== undefined) throw exchange.abortReason;
      // A status of failure says more than the body that broke off behind it.
      if (!exchange.head || exchange.head.status < 400) {
        throw connectionFailure(error, exchange, call, attempt);
      }
      this.#body = undefined;
    } finally {
      stopTimer();
      this.#exchange = undefined;
    }
    const answer = new Answer({ method, path }, exchange.head as ResponseHead, this.#body, attempt);
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
    return hooks.afterResponse?.({ ...fields, headers: head.toHeaders() });
  }

  #openSink(head: ResponseHead): BodySink {
    this.#body = undefined;
    const own = isSuccess(head) ? this.#call.openSink?.() : undefined;
    if (own) return own;
    this.#body = new MemorySink(this.#mostBytes);
    return this.#body;
  }

  async #askHook(attempt: number): Promise<Record<string, string>> {
    const { method, target, headers } = this.#call;
    const { hooks, baseURL } = this.#settings;
    const request = { method, url: baseURL.origin + target, headers: { ...headers }, attempt };
    await hooks.beforeRequest?.(request);
    return request.headers;
  }

  /** One timer bounds the try, its body included. Where the body goes to a sink, it bounds each silence. */
  #startTimer(exchange: Exchange, startedAt: number): () => void {
    const { clock } = this.#settings;
    let timer: TimerHandle;
    let chunks = 0;
    const arm = (from: number) => {
      const limitMs = Math.min(this.#timeoutMs, this.#deadlineAt - from);
      timer = clock.setTimeout(onTime, Math.max(0, Math.min(limitMs, longestTimerMs)));
    };
    const onTime = () => {
      const now = clock.now();
      if (this.#call.openSink && exchange.chunks > chunks && now < this.#deadlineAt) {
        chunks = exchange.chunks;
        arm(now);
        return;
      }
      exchange.abort(this.#timeoutError(exchange.maybeSent, exchange.head?.status));
    };
    arm(startedAt);
    return () => clock.clearTimeout(timer);
  }

  /** Waits as long as the plan says; throws the error when it is final. */
  async #beforeRetry({ error, attemptNumber, retriesLeft }: RetryContext): Promise<void> {
    if (retriesLeft <= 0) return; // p-retry throws the error itself
    const { clock, hooks, logger } = this.#settings;
    const { repeatable, method, path } = this.#call;
    const rules = { repeatable, maxRetryAfterMs: this.#maxRetryAfterMs };
    const delayMs = retryDelayMs(error, rules, attemptNumber, clock.random());
    // A wait that ends behind the deadline helps nobody: the caller learns of the failure now.
    const tooLate = delayMs === undefined || clock.now() + delayMs >= this.#deadlineAt;
    if (tooLate || !(error instanceof ActlogError)) throw error;
    const { status, code, requestId } = error;
    const attempt = attemptNumber;
    logger.log('info', 'trying again', { method, path, status, code, requestId, attempt, delayMs });
    await hooks.onRetry?.({ error, attempt, delayMs });
    await this.#sleep(delayMs);
  }

  async #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#call.options;
    const { clock } = this.#settings;
    if (delayMs > 0 && !signal?.aborted) {
      let timer: TimerHandle;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = clock.setTimeout(resolve, delayMs);
      });
      this.#wake = undefined;
      clock.clearTimeout(timer);
    }
    if (signal?.aborted) throw this.#abortError();
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

  #timeoutError(maybeSent: boolean, status: number | undefined): APITimeoutError {
    const { method, path } = this.#call;
    const late = this.#settings.clock.now() >= this.#deadlineAt;
    const limit = late
      ? 'its deadlineMs ran out'
      : `no whole answer within ${this.#timeoutMs} ms (timeoutMs)`;
    const context = { method, path, status, attempts: this.#attempt, maybeSent };
    return new APITimeoutError(`${method} ${path}: ${limit}.`, context);
  }
}

/** A page that does not follow redirects itself shows one as status 0 (Fetch standard, "opaque-redirect"). */
function isSuccess({ status }: ResponseHead): boolean {
  return status >= 200 && status < 300;
}
