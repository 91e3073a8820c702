import { keepNewest } from '../keep-newest.ts';
import type { Caller } from '../keys/key-ring.ts';
import { noteKeyUsed } from '../storage/key-store.ts';
import { storageOutage } from '../storage/outage.ts';
import { type Rate, type RateTaken, takeFromRate } from '../storage/rate-limit-store.ts';
import type { Storage } from '../storage/storage.ts';
import { ApiError } from './api-error.ts';

/** What lets the requests of a key in. */
export interface RequestRate {
  /**
   * Counts a request, and returns the headers that tell how many are left
   * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
   *
   * @throws ApiError `RATE_LIMITED` with Retry-After.
   */
  take(caller: Caller): Promise<Record<string, string>>;

  /** As `take`, for a request that takes nothing from the database; undefined for one that does. */
  takeFromStock(caller: Caller): Record<string, string> | undefined;
}

/** Requests that a process has taken from the shared record and not yet given out. */
interface Stock {
  left: number;
  remainingInRecord: number;
  validUntilMs: number;
}

/** Seconds of a rate that a process takes at once, so that the record is not written for every request. */
const stockSeconds = 0.1;

/** Milliseconds after which a stock is thrown away; it was paid for, but saving it up would allow a larger burst. */
const stockLifetimeMs = 1000;

/** Keys whose stock is kept. */
const keptStocks = 10_000;

/** Holds every key to its rate, over all processes of a deployment. */
export class RateLimiter implements RequestRate {
  readonly #storage: Storage;
  readonly #rate: Rate;
  readonly #stocks = new Map<string, Stock>();
  readonly #refills = new Map<string, Promise<RateTaken>>();
  readonly #stockSize: number;
  readonly #policy: string;

  constructor(storage: Storage, rate: Rate) {
    this.#storage = storage;
    this.#rate = rate;
    this.#stockSize = Math.max(
      1,
      Math.min(Math.floor(rate.requestsPerSecond * stockSeconds), Math.floor(rate.burst / 10)),
    );
    this.#policy = `"key";q=${rate.burst};w=${Math.ceil(rate.burst / rate.requestsPerSecond)}`;
  }

  async take(caller: Caller): Promise<Record<string, string>> {
    for (;;) {
      const headers = this.takeFromStock(caller);
      if (headers) return headers;
      const taken = await this.#refill(caller);
      if (!taken.isTaken) {
        throw new ApiError('RATE_LIMITED', 'The rate limit of the API key is exceeded; wait, then go on.', {
          retryAfterSeconds: taken.retryAfterMs / 1000,
          headers: this.#headers(taken.remaining),
        });
      }
    }
  }

  takeFromStock({ keyId }: Caller): Record<string, string> | undefined {
    const stock = this.#stocks.get(keyId);
    if (!stock || stock.left <= 0 || stock.validUntilMs <= Date.now()) return undefined;
    stock.left -= 1;
    return this.#headers(stock.left + stock.remainingInRecord);
  }

  /** Requests that arrive together wait for one refill, and each that finds it used up asks for the next. */
  #refill(caller: Caller): Promise<RateTaken> {
    let refill = this.#refills.get(caller.keyId);
    if (!refill) {
      refill = this.#takeFromRecord(caller)
        .catch((error: unknown) => this.#withoutRecord(caller, error))
        .finally(() => this.#refills.delete(caller.keyId));
      this.#refills.set(caller.keyId, refill);
    }
    return refill;
  }

  async #takeFromRecord({ tenantId, keyId }: Caller): Promise<RateTaken> {
    const nowMs = Date.now();
    return this.#storage.write(tenantId, async ({ db }) => {
      for (const size of new Set([this.#stockSize, 1])) {
        const taken = await takeFromRate(db, tenantId, `key:${keyId}`, this.#rate, size, nowMs);
        if (!taken.isTaken && size > 1) continue;
        if (taken.isTaken) {
          await noteKeyUsed(db, tenantId, keyId, nowMs);
          this.#keep(keyId, size, taken.remaining, nowMs);
        }
        return taken;
      }
      throw new Error('A stock has at least one size.');
    });
  }

  /** A database that takes no writes can still be read; what writes is told so by the write itself. */
  #withoutRecord({ keyId }: Caller, error: unknown): RateTaken {
    if (storageOutage(error) === undefined) throw error;
    this.#keep(keyId, 1, 0, Date.now());
    return { isTaken: true, remaining: 0, retryAfterMs: 0 };
  }

  #keep(keyId: string, left: number, remainingInRecord: number, nowMs: number): void {
    const stock = { left, remainingInRecord, validUntilMs: nowMs + stockLifetimeMs };
    keepNewest(this.#stocks, keyId, stock, keptStocks);
  }

  #headers(remaining: number): Record<string, string> {
    const { burst, requestsPerSecond } = this.#rate;
    const resetSeconds = Math.ceil((burst - remaining) / requestsPerSecond);
    return { 'ratelimit-policy': this.#policy, ratelimit: `"key";r=${remaining};t=${resetSeconds}` };
  }
}
