import type { Journal } from '../journal/journal.ts';
import { detached } from '../lib/detached.ts';
import { timers } from '../lib/timers.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { PendingEvents } from './pending-events.ts';

/** Interval at which settled events are written, in milliseconds. */
const settleEveryMs = 500;
/** Interval at which the folder is marked as alive and dead processes are searched for, in milliseconds. */
const adoptEveryMs = 30_000;
/** Delay before an unreadable file is retried, in milliseconds. */
const recheckMs = 1_000;

/** Dependencies of {@link JournalUpkeep}. */
export interface JournalUpkeepOptions {
  readonly journal: Journal;
  readonly events: PendingEvents;
  readonly reporter: Reporter;
  /** Called when there may be more to send, or more room. */
  readonly onChange: () => void;
}

/** Periodic tasks of a journal. Its timers do not keep the process alive. */
export class JournalUpkeep {
  readonly #options: JournalUpkeepOptions;
  readonly #adoptTimer: NodeJS.Timeout;
  #settleTimer: NodeJS.Timeout | undefined;
  #recheckTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: JournalUpkeepOptions) {
    this.#options = options;
    this.#adopt();
    this.#adoptTimer = detached(() => timers.setInterval(() => this.#adopt(), adoptEveryMs));
    this.#adoptTimer.unref();
  }

  /** Schedules writing which events are settled. */
  settleSoon(): void {
    if (this.#settleTimer || this.#isStopped) return;
    this.#settleTimer = timers.setTimeout(() => {
      this.#settleTimer = undefined;
      this.#options.journal.writeSettled();
      this.#options.onChange();
    }, settleEveryMs);
    this.#settleTimer.unref();
  }

  /** Schedules another check if the journal may change without any other trigger. */
  scheduleRecheck(): void {
    if (this.#recheckTimer || this.#isStopped) return;
    const delayMs = this.#recheckInMs;
    if (delayMs === undefined) return;
    const start = () => timers.setTimeout(() => this.#recheck(), Math.ceil(delayMs));
    this.#recheckTimer = detached(start).unref();
  }

  /** Stops all tasks. */
  stop(): void {
    this.#isStopped = true;
    timers.clearInterval(this.#adoptTimer);
    timers.clearTimeout(this.#settleTimer);
    timers.clearTimeout(this.#recheckTimer);
  }

  get #recheckInMs(): number | undefined {
    const { journal, events } = this.#options;
    if (journal.isBroken) return journal.restLeftMs(Date.now());
    if (events.queues.volatileLength > 0 && !journal.room.isFull) return 0;
    return journal.readAgainInMs === undefined ? undefined : recheckMs;
  }

  #recheck(): void {
    const { journal, events, onChange } = this.#options;
    this.#recheckTimer = undefined;
    const nowMs = Date.now();
    journal.retry(nowMs);
    events.secure(nowMs);
    onChange();
    this.scheduleRecheck();
  }

  #adopt(): void {
    const { journal, events, reporter, onChange } = this.#options;
    const nowMs = Date.now();
    try {
      journal.keepAlive(nowMs);
      events.secure(nowMs);
      journal.adopt(nowMs);
    } catch (error) {
      reporter.failed('adopt', error as Error);
    }
    onChange();
    this.scheduleRecheck();
  }
}
