import { detached, timers } from '../lib/timers.ts';
import { type Counters, publish, type Reporter } from '../reporting/reporter.ts';
import { type EventSender, Faults, judge, type SendResult, type Verdict } from './send-result.ts';
import { IdleMoment } from './service-connection.ts';
import type { OriginKey, QueuedEvent, SessionQueues } from './session-queues.ts';

/** With this many waiting events, sending does not wait for an idle moment, because it would take too long. */
const maxGathered = 256;

/** Dependencies of a {@link Deliverer}. */
export interface DelivererOptions {
  readonly queues: SessionQueues;
  /** Moves events from the journal to the queues when they run low. */
  readonly refill: () => void;
  /** Loads the sender; called again after a failure. */
  readonly connect: () => Promise<EventSender>;
  /** Returns the headers of events with the given origin. */
  readonly headersFor: (origin: OriginKey) => Readonly<Record<string, string>>;
  readonly parseRetryAfter: (value: string, nowMs: number) => number | undefined;
  /** Stores an event that the service will never accept. */
  readonly deadLetter: (event: QueuedEvent, reason: string) => void;
  /** Called when an event has left the queues. */
  readonly onSettled: () => void;
  /** Called when an attempt has failed. */
  readonly onFailed: () => void;
  readonly maxConcurrency: number;
  /** Address of the service, for messages. */
  readonly baseURL: string;
  readonly counters: Counters;
  readonly reporter: Reporter;
}

/** Sends the queued events, as fast as the service accepts them and no faster. */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #pace: Pace;
  #sender: EventSender | undefined;
  #isConnecting = false;
  #isStopped = false;
  #isScheduled = false;
  #inFlight = 0;
  readonly #faults = new Faults();
  #lastFailure: Failure | undefined;
  #wakeUp: NodeJS.Timeout | undefined;
  readonly #quietMoment = new IdleMoment(() => this.wake());
  /** `true` if more could be sent but the pace does not allow it. */
  #isHeldBack = false;
  readonly #pumpSoon = () => timers.setImmediate(this.#pumpNow);
  readonly #pumpNow = () => {
    this.#isScheduled = false;
    this.#pump();
  };

  constructor(options: DelivererOptions) {
    this.#options = options;
    this.#pace = new Pace({
      maxConcurrency: options.maxConcurrency,
      now: () => timers.now(),
      random: Math.random,
    });
  }

  /** `true` if events get through, as far as is known. */
  get isHealthy(): boolean {
    return !this.#pace.isOpen;
  }

  /** Number of events being sent. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Schedules sending for a later turn of the event loop, so that recording an event does not include sending it. */
  wake(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#quietMoment.cancel();
    detached(this.#pumpSoon);
  }

  /** Like `wake`, but waits for an idle moment or for many events. For events that are already safe on disk. */
  gather(): void {
    if (this.#isScheduled || this.#isStopped) return;
    if (this.#options.queues.length - this.#inFlight >= maxGathered) this.wake();
    else this.#quietMoment.await();
  }

  /** Retries at once, unless the service named a time, because a caller is waiting. */
  hurry(): void {
    this.#pace.hurry();
    this.wake();
  }

  /** Loads the sender, so that it is ready for the first event. */
  warmUp(): void {
    if (this.#sender || this.#isConnecting || this.#isStopped) return;
    this.#isConnecting = true;
    this.#options
      .connect()
      .then(
        (sender) => {
          this.#sender = sender;
        },
        (error: Error) => {
          this.#options.reporter.failed('connect', error);
          this.#pace.failed();
        },
      )
      .finally(() => {
        this.#isConnecting = false;
        this.wake();
      });
  }

  /** Reports the last failure if nothing gets through, even if the outage has just begun. */
  reportOutage(): void {
    if ((this.isHealthy && !this.#faults.areOpen) || !this.#lastFailure) return;
    const { baseURL, reporter } = this.#options;
    reportFailure(reporter, this.#lastFailure, { baseURL, failuresInARow: Number.POSITIVE_INFINITY });
  }

  /** Stops sending and aborts requests in flight; the journal keeps their events. */
  stop(): void {
    this.#isStopped = true;
    timers.clearTimeout(this.#wakeUp);
    this.#quietMoment.cancel();
    this.#sender?.abort();
  }

  #pump(): void {
    if (this.#isStopped) return;
    this.#options.refill();
    if (!this.#sender) {
      if (this.#options.queues.length > 0 && this.#pace.quietForMs === 0) this.warmUp();
      else this.#sleep();
      return;
    }
    this.#isHeldBack = false;
    while (this.#pace.allows(this.#inFlight)) {
      const event = this.#options.queues.next();
      if (!event) return;
      this.#send(this.#sender, event);
    }
    this.#isHeldBack = true;
    this.#sleep();
  }

  /** Schedules the next attempt for the end of a pause. The timer does not keep the process alive. */
  #sleep(): void {
    if (this.#options.queues.length === 0) return;
    const quietForMs = this.#pace.quietForMs;
    // Without a pause, the next response wakes the deliverer. If none is pending, the pause has just ended.
    if (quietForMs === 0 && this.#inFlight > 0) return;
    timers.clearTimeout(this.#wakeUp);
    this.#wakeUp = timers.setTimeout(() => this.#pump(), Math.ceil(quietForMs));
    this.#wakeUp.unref();
  }

  #send(sender: EventSender, event: QueuedEvent): void {
    this.#inFlight += 1;
    sender.send(event.body, this.#options.headersFor(event.originKey), (result) => {
      this.#inFlight -= 1;
      const { queues } = this.#options;
      // An event that was given up at shutdown is already counted, whatever the result.
      if (this.#isStopped && (result.status === undefined || !event.queueNode)) queues.putBack(event);
      else this.#settle(event, result);
      // Let newly recorded events accumulate, unless something else is sent anyway.
      if (this.#quietMoment.isAwaited && !this.#isHeldBack && !queues.hasMoreOf(event.sessionId)) return;
      this.wake();
    });
  }

  #settle(event: QueuedEvent, result: SendResult): void {
    const verdict = judge(result);
    if (verdict.kind === 'delivered') {
      this.#pace.succeeded();
      this.#faults.clear();
      this.#options.counters.delivered += 1;
      publish('delivered', () => ({ eventId: event.eventId, sessionId: event.sessionId }));
      this.#leave(event);
    } else if (verdict.kind === 'refused' || this.#isHopeless(event, verdict)) {
      this.#options.deadLetter(event, verdict.reason);
      this.#leave(event);
    } else {
      this.#retry(event, verdict, result);
    }
  }

  #isHopeless(event: QueuedEvent, verdict: Verdict): boolean {
    return verdict.kind === 'fault' && this.#faults.add(event, this.#options.counters.delivered);
  }

  #leave(event: QueuedEvent): void {
    this.#faults.remove(event);
    this.#options.queues.remove(event);
    event.settle();
    this.#options.onSettled();
  }

  #retry(event: QueuedEvent, verdict: Failure, result: SendResult): void {
    const { baseURL, counters, queues, parseRetryAfter, reporter } = this.#options;
    counters.retried += 1;
    publish('retried', () => ({
      eventId: event.eventId,
      sessionId: event.sessionId,
      reason: verdict.reason,
    }));
    const retryAfterMs = result.retryAfter ? parseRetryAfter(result.retryAfter, Date.now()) : undefined;
    const isDelaySpecified = retryAfterMs !== undefined && retryAfterMs > 0;
    const isOfSession = verdict.kind === 'no-room' || verdict.kind === 'other-agent';
    if (verdict.kind === 'throttled') this.#pace.throttled(retryAfterMs);
    else if (isOfSession) this.#pace.succeeded();
    else if (verdict.kind !== 'fault' || this.#faults.areOutage || isDelaySpecified) {
      this.#pace.failed(retryAfterMs);
    }
    this.#lastFailure = verdict;
    const faults = verdict.kind === 'fault' ? event.faults : 0;
    const failuresInARow = Math.max(this.#pace.failuresInARow, faults);
    reportFailure(reporter, verdict, { baseURL, failuresInARow, retryAfterMs });
    if (isOfSession) this.#putBackLater(event, Math.min(retryAfterMs ?? Infinity, maxRetryAfterMs));
    else if (verdict.kind === 'fault' && !this.#pace.isOpen) this.#putBackLater(event, Faults.delayMs(event));
    else queues.putBack(event);
    this.#options.onFailed();
  }

  /** Delays only this event's session: the service accepts others. */
  #putBackLater(event: QueuedEvent, delayMs: number): void {
    timers
      .setTimeout(() => {
        this.#options.queues.putBack(event);
        this.wake();
      }, delayMs)
      .unref();
  }
}

/** Number of consecutive failures that are reported; fewer are ignored as transient. */
const reportAfter = 5;

/** Reasons why an event did not reach the service. */
type Failure = Exclude<Verdict, { kind: 'delivered' }>;

/** Reports a failure that requires action or that persists. */
function reportFailure(
  reporter: Reporter,
  verdict: Failure,
  service: {
    readonly baseURL: string;
    readonly failuresInARow: number;
    /** Delay requested by the service, if any. */
    readonly retryAfterMs?: number | undefined;
  },
): void {
  const { baseURL, failuresInARow, retryAfterMs = 0 } = service;
  const isLasting = failuresInARow >= reportAfter;
  if (verdict.kind === 'misconfigured') {
    reporter.failed(
      'misconfigured',
      new Error(
        `The service at ${baseURL} rejects events: ${verdict.reason}. They are kept. Check the API key (it needs the scope "ingest") and the address.`,
      ),
    );
  } else if (verdict.kind === 'other-agent') {
    reporter.failed(
      'other-agent',
      new Error(
        `The service at ${baseURL} rejects the events of an agent: ${verdict.reason}. They are kept, and those of other agents are sent. Use a key of that agent, or set agentId to an agent of the key.`,
      ),
    );
  } else if (verdict.kind === 'outage' && isLasting) {
    reporter.failed(
      'outage',
      new Error(
        `The service at ${baseURL} cannot be reached: ${verdict.reason}. Events are kept and retried.`,
      ),
    );
  } else if (verdict.kind === 'fault' && isLasting) {
    reporter.failed(
      'fault',
      new Error(`The service at ${baseURL} fails on events: ${verdict.reason}. They are kept and retried.`),
    );
  } else if (
    verdict.kind === 'no-room' ||
    (verdict.kind === 'throttled' && (isLasting || retryAfterMs > maxRetryAfterMs))
  ) {
    // A rate limit passes by itself; an exhausted quota may need to be raised.
    reporter.failed(
      'throttled',
      new Error(
        `The service at ${baseURL} accepts no events for now: ${verdict.reason}. Events are kept and retried.`,
      ),
    );
  }
}

/** First delay after a failure, in milliseconds; doubles with each consecutive failure. */
const initialDelayMs = 100;
const maxDelayMs = 30_000;
/** Maximum `Retry-After` that is followed, in milliseconds: a wrong date must not stop deliveries for days. */
const maxRetryAfterMs = 15 * 60_000;

/** Dependencies of a {@link Pace}. */
interface PaceOptions {
  /** Maximum number of events in flight. */
  readonly maxConcurrency: number;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
}

/**
 * Limits the number of events in flight. A `Retry-After` pauses everything. A failure pauses everything, then allows a
 * single probe. Concurrency halves when the service throttles, and grows back with every accepted event.
 */
export class Pace {
  readonly #options: PaceOptions;
  #limit: number;
  #failures = 0;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  /** `true` if the service specified the delay. */
  #isDelaySpecified = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#limit = options.maxConcurrency;
  }

  /** `true` if the last attempt failed: the circuit is open, and only a probe may pass. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }

  /** Number of consecutive failures; those in flight together count once. */
  get failuresInARow(): number {
    return this.#failures;
  }

  /** Milliseconds until sending may resume; 0 if it may now. */
  get quietForMs(): number {
    if (this.#quietUntilMs === Number.NEGATIVE_INFINITY) return 0;
    return Math.max(0, this.#quietUntilMs - this.#options.now());
  }

  /** Returns `true` if another event may be sent with `inFlight` events in flight. */
  allows(inFlight: number): boolean {
    if (inFlight >= (this.isOpen ? 1 : Math.floor(this.#limit))) return false;
    return this.quietForMs === 0;
  }

  /** Notes that the service accepted an event. */
  succeeded(): void {
    this.#failures = 0;
    if (this.quietForMs === 0) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#limit < this.#options.maxConcurrency) {
      this.#limit = Math.min(this.#options.maxConcurrency, this.#limit + 1 / this.#limit);
    }
  }

  /** Notes that the service throttles. */
  throttled(retryAfterMs: number | undefined): void {
    // Requests that were in flight together count as one signal.
    if (this.quietForMs === 0) this.#limit = Math.max(1, this.#limit / 2);
    this.#pause(retryAfterMs);
  }

  /** Notes that nothing gets through. */
  failed(retryAfterMs?: number): void {
    this.#pause(retryAfterMs);
  }

  /** Allows the next probe now, unless the service specified the delay. */
  hurry(): void {
    if (!this.#isDelaySpecified) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  #pause(retryAfterMs = 0): void {
    // If `Retry-After` is 0 or in the past, still pause.
    const isDelaySpecified = retryAfterMs > 0;
    const isFirst = this.quietForMs === 0;
    if (!isFirst && !isDelaySpecified) return;
    const delayMs = isDelaySpecified ? Math.min(retryAfterMs, maxRetryAfterMs) : this.#backoffMs();
    this.#isDelaySpecified = isDelaySpecified;
    if (isFirst) this.#failures += 1;
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#options.now() + delayMs);
  }

  /** Exponential, half of it random, so that many agents do not retry in step. */
  #backoffMs(): number {
    const fullMs = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(this.#failures, 20));
    return fullMs * (0.5 + this.#options.random() / 2);
  }
}
