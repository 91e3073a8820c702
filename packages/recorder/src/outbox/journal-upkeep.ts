import { detached } from '../detached.ts';
import type { Journal } from '../journal/journal.ts';
import type { Reporter } from '../reporter.ts';
import { timers } from '../timers.ts';
import type { PendingEvents } from './pending-events.ts';

/** How often settled events are written down. */
const settleEveryMs = 500;
/** How often the folder is marked as alive, and dead processes are looked for. */
const adoptEveryMs = 30_000;
/** How often a file that could not be read is looked after. */
const lookAgainMs = 1_000;

/** What {@link JournalUpkeep} works with. */
export interface JournalUpkeepOptions {
  readonly journal: Journal;
  readonly events: PendingEvents;
  readonly reporter: Reporter;
  /** Called whenever there may be more to send, or more room. */
  readonly onChange: () => void;
}

/** What a journal needs done from time to time. Its timers do not keep the process alive. */
export class JournalUpkeep {
  readonly #options: JournalUpkeepOptions;
  readonly #adoptTimer: NodeJS.Timeout;
  #settleTimer: NodeJS.Timeout | undefined;
  #lookAgainTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: JournalUpkeepOptions) {
    this.#options = options;
    this.#adopt();
    this.#adoptTimer = detached(() => timers.setInterval(() => this.#adopt(), adoptEveryMs));
    this.#adoptTimer.unref();
  }

  /** Writes down, before long, which events are settled. */
  settleSoon(): void {
    if (this.#settleTimer || this.#isStopped) return;
    this.#settleTimer = timers.setTimeout(() => {
      this.#settleTimer = undefined;
      this.#options.journal.writeSettled();
      this.#options.onChange();
    }, settleEveryMs);
    this.#settleTimer.unref();
  }

  /** Comes back when something is to be expected of the journal, which nothing else would then look at. */
  lookAgain(): void {
    if (this.#lookAgainTimer || this.#isStopped) return;
    const delayMs = this.#lookAgainInMs;
    if (delayMs === undefined) return;
    const start = () => timers.setTimeout(() => this.#onLookAgain(), Math.ceil(delayMs));
    this.#lookAgainTimer = detached(start).unref();
  }

  /** Ends all of it. */
  stop(): void {
    this.#isStopped = true;
    timers.clearInterval(this.#adoptTimer);
    timers.clearTimeout(this.#settleTimer);
    timers.clearTimeout(this.#lookAgainTimer);
  }

  get #lookAgainInMs(): number | undefined {
    const { journal, events } = this.#options;
    if (journal.isBroken) return journal.restLeftMs(Date.now());
    if (events.lanes.volatileLength > 0 && !journal.room.isFull) return 0;
    return journal.readAgainInMs === undefined ? undefined : lookAgainMs;
  }

  #onLookAgain(): void {
    const { journal, events, onChange } = this.#options;
    this.#lookAgainTimer = undefined;
    const nowMs = Date.now();
    journal.retry(nowMs);
    events.secure(nowMs);
    onChange();
    this.lookAgain();
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
    this.lookAgain();
  }
}
