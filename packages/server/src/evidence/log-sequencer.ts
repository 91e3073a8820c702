import { keepNewest } from '../lib/keep-newest.ts';
import { type Appended, LoggedMeanwhile, maxLoggedEvents, tenantsToLog } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';

/** Delay between a write and the entries of its records, in milliseconds. All writes of that time share a round. */
const logAfterMs = 500;

/** Delay after a failed round, as during an outage of the database, in milliseconds. */
const retryAfterMs = 2000;

/** Time for what waits when the server closes, in milliseconds. The next server logs the rest. */
const maxClosingMs = 2000;

/** Maximum attempts to append to a log that other processes append to. A later round does the rest. */
const maxAttempts = 4;

/** Delay between looks for entries of other processes while a request waits, in milliseconds. */
const lookAgainMs = 1000;

/** Options for {@link LogSequencer.waitFor}. */
export interface WaitOptions {
  /** Returns `true` if the wait is over. */
  readonly isReached: () => Promise<boolean>;
  /** Maximum time, in milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Maximum tenants whose newest rows are remembered. */
const maxTenants = 1000;

/** Bytes of payloads that a batch should have at most, and its fewest events. */
const maxPayloadBytes = 4 * 1024 * 1024;
const minEvents = 64;

/** Returns the maximum events of the next batch: as many as fit if they are as large, and at most four times as many. */
function nextMaxEvents(before: number, { entryCount, payloadBytes }: Appended): number {
  const average = Math.max(1, payloadBytes / Math.max(1, entryCount));
  const fitting = Math.floor(maxPayloadBytes / average);
  return Math.max(minEvents, Math.min(fitting, before * 4, maxLoggedEvents));
}

/** Options for {@link LogSequencer}. */
export interface LogSequencerOptions {
  readonly storage: Storage;
  /** `false` to append nothing; what is recorded waits in the database. */
  readonly isOn: boolean;
  /** Called with the number of entries that were appended to the log of a tenant. */
  readonly onAppended: (entries: number, tenantId: number) => void;
  /** Called with the error of a failed round, which is repeated. */
  readonly onError: (error: unknown) => void;
}

/**
 * Appends what was recorded to the logs of the tenants, soon after each write. Nothing is scheduled while nothing is
 * written. A record waits in the database, so that none is lost or logged twice, whichever process ends or appends.
 */
export class LogSequencer {
  readonly #options: LogSequencerOptions;
  readonly #waiting = new Set<(tenantId: number) => void>();
  readonly #stopping = new AbortController();
  /** Maximum events of a batch, by the size of those before. */
  #maxEvents = minEvents;
  /** Newest rows of events when nothing of a tenant waited any more. */
  readonly #loggedRows = new Map<number, number | undefined>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Time at which a round ends although more waits; none while the server runs. */
  #endMs = Number.POSITIVE_INFINITY;
  /** Time of the first write that the next round logs; `undefined` if there is none. */
  #waitingSinceMs: number | undefined;

  constructor(options: LogSequencerOptions) {
    this.#options = options;
  }

  /** Milliseconds for which the oldest record of this process waits for its entry. */
  get lagMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : performance.now() - this.#waitingSinceMs;
  }

  /**
   * Waits until a tenant's log has grown far enough, the time is over, the caller has left, or the server stops. The logs
   * that other processes append to are looked at once a second.
   */
  async waitFor(tenantId: number, { isReached, waitMs, signal }: WaitOptions): Promise<void> {
    const until = AbortSignal.any([signal, this.#stopping.signal, AbortSignal.timeout(waitMs)]);
    while (!until.aborted) {
      const grown = this.#grown(tenantId, until);
      if (await isReached()) return grown.cancel();
      await grown.promise;
    }
  }

  /** Ends all waits, so that the server can stop. */
  stopWaiting(): void {
    this.#stopping.abort();
  }

  #grown(tenantId: number, until: AbortSignal): { readonly promise: Promise<void>; cancel(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => cancel(), lookAgainMs);
    const onGrown = (grown: number) => {
      if (grown === tenantId) cancel();
    };
    const cancel = () => {
      clearTimeout(timer);
      this.#waiting.delete(onGrown);
      until.removeEventListener('abort', cancel);
      resolve();
    };
    this.#waiting.add(onGrown);
    until.addEventListener('abort', cancel);
    return { promise, cancel };
  }

  /** Must be called after each write, which may have records to log. */
  wake(): void {
    if (!this.#options.isOn) return;
    this.#waitingSinceMs ??= performance.now();
    this.#schedule(logAfterMs);
  }

  /** Logs everything that waits, as after a crash. */
  async logAll(): Promise<void> {
    await this.#round;
    const { storage, isOn } = this.#options;
    if (!isOn) return;
    for (const tenantId of await storage.readAcross('sweep', tenantsToLog)) await this.#logTenant(tenantId);
  }

  /** Logs what waits, as far as there is time, and schedules nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endMs = performance.now() + maxClosingMs;
    clearTimeout(this.#timer);
    await this.logAll();
  }

  #schedule(delayMs: number): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const sinceMs = this.#waitingSinceMs;
      this.#waitingSinceMs = undefined;
      this.#round = this.logAll().catch((error: unknown) => {
        this.#waitingSinceMs = sinceMs;
        this.#options.onError(error);
        this.#schedule(retryAfterMs);
      });
    }, delayMs);
    this.#timer.unref();
  }

  async #logTenant(tenantId: number): Promise<void> {
    const { storage, onAppended } = this.#options;
    let attempts = 0;
    while (attempts < maxAttempts && performance.now() < this.#endMs) {
      const afterRow = this.#loggedRows.get(tenantId);
      let appended: Appended | undefined;
      try {
        appended = await storage.appendToLog(tenantId, { afterRow, maxEvents: this.#maxEvents });
      } catch (error) {
        if (!(error instanceof LoggedMeanwhile)) throw error;
        attempts += 1;
        this.#loggedRows.delete(tenantId);
        continue;
      }
      if (!appended) return;
      attempts = 0;
      onAppended(appended.entryCount, tenantId);
      for (const onGrown of [...this.#waiting]) onGrown(tenantId);
      this.#maxEvents = nextMaxEvents(this.#maxEvents, appended);
      if (appended.isAll) {
        keepNewest(this.#loggedRows, tenantId, appended.lastRow, maxTenants);
        return;
      }
    }
    this.wake();
  }
}
