import type { Counters } from '../counters.ts';
import { detached } from '../detached.ts';
import { publish } from '../diagnostics.ts';
import type { Reporter } from '../reporter.ts';
import { timers } from '../timers.ts';
import type { Answer, Transport } from './answer.ts';
import { Faults } from './faults.ts';
import type { OriginKey } from './origin.ts';
import { longestRetryAfterMs, Pace } from './pace.ts';
import type { QueuedEvent } from './queued-event.ts';
import { QuietMoment } from './quiet-moment.ts';
import { type Failure, reportFailure } from './report-failure.ts';
import type { SessionLanes } from './session-lanes.ts';
import { judge, type Verdict } from './verdict.ts';

/** So many events do not wait for a quiet moment: they would be long in leaving. */
const maxGathered = 256;

/** What {@link Deliverer} works with. */
export interface DelivererOptions {
  readonly lanes: SessionLanes;
  /** Brings events from the journal into the lanes when they run low. */
  readonly refill: () => void;
  /** Loads what sends; asked again after a failure. */
  readonly connect: () => Promise<Transport>;
  /** The headers of events of one origin. */
  readonly headersFor: (origin: OriginKey) => Readonly<Record<string, string>>;
  readonly parseRetryAfter: (value: string, nowMs: number) => number | undefined;
  /** Keeps an event that the service will never take. */
  readonly deadLetter: (event: QueuedEvent, reason: string) => void;
  /** Called whenever an event left the lanes. */
  readonly onSettled: () => void;
  /** Called whenever a sending failed. */
  readonly onFailed: () => void;
  readonly maxConcurrency: number;
  /** Where the service is, for what is told of it. */
  readonly baseURL: string;
  readonly counters: Counters;
  readonly reporter: Reporter;
}

/** Sends what stands in the lanes, as fast as the service takes it and no faster. */
export class Deliverer {
  readonly #options: DelivererOptions;
  readonly #pace: Pace;
  #transport: Transport | undefined;
  #isConnecting = false;
  #isStopped = false;
  #isScheduled = false;
  #inFlight = 0;
  readonly #faults = new Faults();
  #lastFailure: Failure | undefined;
  #wakeUp: NodeJS.Timeout | undefined;
  readonly #quietMoment = new QuietMoment(() => this.wake());
  /** Whether more could be sent but for the pace. */
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

  /** Whether events get through, as far as is known. */
  get isHealthy(): boolean {
    return !this.#pace.isOpen;
  }

  /** Events being sent right now. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Sends in a later turn of the event loop: whoever records an event does not pay for sending it. */
  wake(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#quietMoment.cancel();
    detached(this.#pumpSoon);
  }

  /** As `wake`, but in a quiet moment, or once many events have come: for events that are safe on disk. */
  gather(): void {
    if (this.#isScheduled || this.#isStopped) return;
    if (this.#options.lanes.length - this.#inFlight >= maxGathered) this.wake();
    else this.#quietMoment.await();
  }

  /** Tries at once, unless the service named a time: somebody waits. */
  hurry(): void {
    this.#pace.hurry();
    this.wake();
  }

  /** Loads what sends, so that the first event finds it ready. */
  warmUp(): void {
    if (this.#transport || this.#isConnecting || this.#isStopped) return;
    this.#isConnecting = true;
    this.#options
      .connect()
      .then(
        (transport) => {
          this.#transport = transport;
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

  /** Tells, where nothing gets through, what the last failure was, however short it lasts yet. */
  tellOfOutage(): void {
    if ((this.isHealthy && !this.#faults.areOpen) || !this.#lastFailure) return;
    const { baseURL, reporter } = this.#options;
    reportFailure(reporter, this.#lastFailure, { baseURL, failuresInARow: Number.POSITIVE_INFINITY });
  }

  /** Sends nothing more, and gives up what is in flight; the journal keeps it. */
  stop(): void {
    this.#isStopped = true;
    timers.clearTimeout(this.#wakeUp);
    this.#quietMoment.cancel();
    this.#transport?.abort();
  }

  #pump(): void {
    if (this.#isStopped) return;
    this.#options.refill();
    if (!this.#transport) {
      if (this.#options.lanes.length > 0 && this.#pace.quietForMs === 0) this.warmUp();
      else this.#sleep();
      return;
    }
    this.#isHeldBack = false;
    while (this.#pace.allows(this.#inFlight)) {
      const event = this.#options.lanes.next();
      if (!event) return;
      this.#send(this.#transport, event);
    }
    this.#isHeldBack = true;
    this.#sleep();
  }

  /** Sets the alarm for the end of a quiet time. It does not keep the process alive. */
  #sleep(): void {
    if (this.#options.lanes.length === 0) return;
    const quietForMs = this.#pace.quietForMs;
    // Without a quiet time it is an answer that wakes; when none is awaited, that time has ended just now.
    if (quietForMs === 0 && this.#inFlight > 0) return;
    timers.clearTimeout(this.#wakeUp);
    this.#wakeUp = timers.setTimeout(() => this.#pump(), Math.ceil(quietForMs));
    this.#wakeUp.unref();
  }

  #send(transport: Transport, event: QueuedEvent): void {
    this.#inFlight += 1;
    transport.send(event.body, this.#options.headersFor(event.originKey), (answer) => {
      this.#inFlight -= 1;
      const { lanes } = this.#options;
      // One that was given up at the end is counted already, whatever came of it.
      if (this.#isStopped && (answer.status === undefined || !event.laneNode)) lanes.putBack(event);
      else this.#settle(event, answer);
      // What was recorded meanwhile waits for others, unless something else is to be sent anyway.
      if (this.#quietMoment.isAwaited && !this.#isHeldBack && !lanes.hasMoreOf(event.sessionId)) return;
      this.wake();
    });
  }

  #settle(event: QueuedEvent, answer: Answer): void {
    const verdict = judge(answer);
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
      this.#retry(event, verdict, answer);
    }
  }

  #isHopeless(event: QueuedEvent, verdict: Verdict): boolean {
    return verdict.kind === 'fault' && this.#faults.add(event, this.#options.counters.delivered);
  }

  #leave(event: QueuedEvent): void {
    this.#faults.remove(event);
    this.#options.lanes.remove(event);
    event.settle();
    this.#options.onSettled();
  }

  #retry(event: QueuedEvent, verdict: Failure, answer: Answer): void {
    const { baseURL, counters, lanes, parseRetryAfter, reporter } = this.#options;
    counters.retried += 1;
    publish('retried', () => ({
      eventId: event.eventId,
      sessionId: event.sessionId,
      reason: verdict.reason,
    }));
    const retryAfterMs = answer.retryAfter ? parseRetryAfter(answer.retryAfter, Date.now()) : undefined;
    const isTold = retryAfterMs !== undefined && retryAfterMs > 0;
    if (verdict.kind === 'throttled') this.#pace.throttled(retryAfterMs);
    else if (verdict.kind === 'no-room') this.#pace.succeeded();
    else if (verdict.kind !== 'fault' || this.#faults.areOutage || isTold) {
      this.#pace.failed(retryAfterMs);
    }
    this.#lastFailure = verdict;
    const faults = verdict.kind === 'fault' ? event.faults : 0;
    const failuresInARow = Math.max(this.#pace.failuresInARow, faults);
    reportFailure(reporter, verdict, { baseURL, failuresInARow, retryAfterMs });
    if (verdict.kind === 'no-room')
      this.#putBackLater(event, Math.min(retryAfterMs ?? Infinity, longestRetryAfterMs));
    else if (verdict.kind === 'fault' && !this.#pace.isOpen) this.#putBackLater(event, Faults.delayMs(event));
    else lanes.putBack(event);
    this.#options.onFailed();
  }

  /** Only this event's session waits: the service takes others. */
  #putBackLater(event: QueuedEvent, delayMs: number): void {
    timers
      .setTimeout(() => {
        this.#options.lanes.putBack(event);
        this.wake();
      }, delayMs)
      .unref();
  }
}
