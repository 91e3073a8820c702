import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { type RawBuilder, sql } from 'kysely';
import { ApiError } from '../../lib/api-error.ts';
import { keepNewest } from '../../lib/keep-newest.ts';
import { storageOutage } from '../../storage/outage.ts';
import type { Storage } from '../../storage/storage.ts';
import { recordKeyUse } from '../../storage/stores/key-store.ts';
import type { Database } from '../../storage/transaction.ts';
import type { Caller } from '../../tenants/caller.ts';

/** Limiter for the requests of a key. */
export interface RequestRate {
  /**
   * Counts a request, and returns the headers with the number of remaining requests
   * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
   *
   * @throws ApiError `RATE_LIMITED` with Retry-After.
   */
  take(caller: Caller): Promise<Record<string, string>>;

  /** Like `take`, but without the database; `undefined` when the database is needed. */
  takeFromStock(caller: Caller): Record<string, string> | undefined;
}

/** Requests that a process has taken from the shared rate limit and not yet used. */
interface Stock {
  left: number;
  sharedRemaining: number;
  validUntilMs: number;
}

/** Seconds of a rate that a process takes at once, so that the shared row is not written for every request. */
const stockSeconds = 0.1;

/** Time after which a stock is discarded, in milliseconds. Keeping it longer would allow larger bursts. */
const stockLifetimeMs = 1000;

/** Maximum number of callers whose stock is kept. */
const maxStocks = 10_000;

/** Enforces the rate limit of each caller, across all processes of a deployment. */
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
        throw new ApiError(
          'RATE_LIMITED',
          caller.user
            ? 'Your rate limit is exceeded; wait before sending more requests.'
            : 'The rate limit of the API key is exceeded; wait before sending more requests.',
          {
            retryAfterSeconds: taken.retryAfterMs / 1000,
            headers: this.#headers(taken.remaining),
          },
        );
      }
    }
  }

  takeFromStock({ id }: Caller): Record<string, string> | undefined {
    const stock = this.#stocks.get(id);
    if (!stock || stock.left <= 0 || stock.validUntilMs <= Date.now()) return undefined;
    stock.left -= 1;
    return this.#headers(stock.left + stock.sharedRemaining);
  }

  /** Refills a stock. Requests that arrive together wait for one refill; if it is used up, they request the next. */
  #refill(caller: Caller): Promise<RateTaken> {
    let refill = this.#refills.get(caller.id);
    if (!refill) {
      refill = this.#takeShared(caller)
        .catch((error: unknown) => this.#admitWithoutRecord(caller, error))
        .finally(() => this.#refills.delete(caller.id));
      this.#refills.set(caller.id, refill);
    }
    return refill;
  }

  async #takeShared({ tenantId, id, keyId }: Caller): Promise<RateTaken> {
    const nowMs = Date.now();
    const subject = keyId === undefined ? `user:${id}` : `key:${keyId}`;
    return this.#storage.write(tenantId, async ({ db }) => {
      for (const size of new Set([this.#stockSize, 1])) {
        const taken = await takeFromRate(db, tenantId, subject, this.#rate, size, nowMs);
        if (!taken.isTaken && size > 1) continue;
        if (taken.isTaken) {
          if (keyId !== undefined) await recordKeyUse(db, tenantId, keyId, nowMs);
          this.#keep(id, size, taken.remaining, nowMs);
        }
        return taken;
      }
      throw new Error('A stock has at least one size.');
    });
  }

  /** Admits one request when the database is read-only, because it can still be read; a write then fails by itself. */
  #admitWithoutRecord({ id }: Caller, error: unknown): RateTaken {
    if (storageOutage(error) === undefined) throw error;
    this.#keep(id, 1, 0, Date.now());
    return { isTaken: true, remaining: 0, retryAfterMs: 0 };
  }

  #keep(id: string, left: number, sharedRemaining: number, nowMs: number): void {
    const stock = { left, sharedRemaining, validUntilMs: nowMs + stockLifetimeMs };
    keepNewest(this.#stocks, id, stock, maxStocks);
  }

  #headers(remaining: number): Record<string, string> {
    const { burst, requestsPerSecond } = this.#rate;
    const resetSeconds = Math.ceil((burst - remaining) / requestsPerSecond);
    return { 'ratelimit-policy': this.#policy, ratelimit: `"key";r=${remaining};t=${resetSeconds}` };
  }
}

/** A rate: an average number of requests per second, and a maximum burst. */
interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Result of a request to the shared rate limit. */
interface RateTaken {
  readonly isTaken: boolean;
  /** Requests that could still be made at once. */
  readonly remaining: number;
  /** Milliseconds until `cost` requests can be made; 0 when they were. */
  readonly retryAfterMs: number;
}

/** Maximum difference between the clocks of a deployment's processes, in milliseconds. */
const clockSkewMs = 10_000;

/**
 * Takes all of `cost` requests from a rate, or none, by the generic cell rate algorithm (ITU-T I.371). `cost` is at
 * most the burst. The algorithm stores one number per subject: the time at which its next request would arrive if its
 * requests came evenly. One statement checks and updates it, so racing processes never exceed the rate.
 */
async function takeFromRate(
  db: Database,
  tenantId: number,
  subject: string,
  { requestsPerSecond, burst }: Rate,
  cost: number,
  nowMs: number,
): Promise<RateTaken> {
  const intervalMs = 1000 / requestsPerSecond;
  const burstMs = burst * intervalMs;
  // Half an interval of tolerance, for rounding errors in sums of fractions.
  const latestMs = nowMs + burstMs + intervalMs / 2;
  const takenMs = cost * intervalMs;
  const current = arrivalSql(nowMs, burstMs);
  const taken = await db
    .insertInto('rate_limits')
    .values({ tenant_id: tenantId, subject, theoretical_arrival_ms: nowMs + takenMs })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'subject'])
        .doUpdateSet({ theoretical_arrival_ms: sql<number>`${current} + ${double(takenMs)}` })
        .where(sql<boolean>`${current} + ${double(takenMs)} <= ${double(latestMs)}`),
    )
    .returning('theoretical_arrival_ms')
    .executeTakeFirst();
  if (!taken) return refused(await arrivalMs(db, tenantId, subject, nowMs, burstMs));
  return { isTaken: true, remaining: roomAt(taken.theoretical_arrival_ms), retryAfterMs: 0 };

  function refused(currentMs: number): RateTaken {
    const retryAfterMs = Math.max(1, currentMs + takenMs - burstMs - nowMs);
    return { isTaken: false, remaining: roomAt(currentMs), retryAfterMs };
  }

  function roomAt(timeMs: number): number {
    return Math.max(0, Math.floor((burstMs - (timeMs - nowMs)) / intervalMs + 0.5));
  }
}

/**
 * Returns the theoretical arrival to use: at least now, and reset to now when it is further ahead than the burst
 * allows, which means that a clock jumped back after it was written.
 */
function arrivalSql(nowMs: number, burstMs: number): RawBuilder<number> {
  const stored = sql.ref('rate_limits.theoretical_arrival_ms');
  const now = double(nowMs);
  return sql`case when ${stored} > ${double(nowMs + burstMs + clockSkewMs)} or ${stored} < ${now} then ${now} else ${stored} end`;
}

/** Casts a parameter, so that PostgreSQL never infers an integer. */
function double(value: number): RawBuilder<number> {
  return sql`cast(${value} as double precision)`;
}

async function arrivalMs(
  db: Database,
  tenantId: number,
  subject: string,
  nowMs: number,
  burstMs: number,
): Promise<number> {
  const row = await db
    .selectFrom('rate_limits')
    .select(arrivalSql(nowMs, burstMs).as('arrival_ms'))
    .where('tenant_id', '=', tenantId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.arrival_ms ?? nowMs;
}

/** Minimum time between two updates of a key's last use, in milliseconds. */
const minUpdateIntervalMs = 1000;

/** Maximum number of keys whose last update is remembered. */
const maxRecordedKeys = 10_000;

const noHeaders: Record<string, string> = {};

/** Admits every request, and records the use of its key, which otherwise the rate limiter does. */
export class UnlimitedRate implements RequestRate {
  readonly #storage: Storage;
  readonly #updatedMs = new Map<string, number>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async take(caller: Caller): Promise<Record<string, string>> {
    const { tenantId, keyId } = caller;
    if (keyId === undefined || this.takeFromStock(caller)) return noHeaders;
    const nowMs = Date.now();
    keepNewest(this.#updatedMs, keyId, nowMs, maxRecordedKeys);
    try {
      await this.#storage.write(tenantId, ({ db }) => recordKeyUse(db, tenantId, keyId, nowMs));
    } catch (error) {
      // A read-only database can still be read.
      if (storageOutage(error) === undefined) throw error;
    }
    return noHeaders;
  }

  takeFromStock({ keyId }: Caller): Record<string, string> | undefined {
    if (keyId === undefined) return noHeaders;
    const updatedMs = this.#updatedMs.get(keyId);
    return updatedMs !== undefined && Math.abs(Date.now() - updatedMs) < minUpdateIntervalMs
      ? noHeaders
      : undefined;
  }
}

/** Failures allowed per address: on average, and in a burst. */
interface FailureRate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Maximum number of addresses that are remembered. */
const maxAddresses = 10_000;

/** Bytes of an IPv6 address that identify a network; a client chooses the others. */
const networkBytes = 8;

/** Limits the authentication failures of each client address, by the generic cell rate algorithm (ITU-T I.371). */
export class FailedAuthentications {
  readonly #arrivalsMs = new Map<string, number>();
  readonly #rate: FailureRate | false;

  /** @param rate - of each address; `false` for no limit */
  constructor(rate: FailureRate | false) {
    this.#rate = rate;
  }

  /**
   * Counts a failure. Returns 0 while the address is within its rate, otherwise the milliseconds until the next one.
   */
  count(request: FastifyRequest): number {
    if (!this.#rate) return 0;
    const { requestsPerSecond, burst } = this.#rate;
    const intervalMs = 1000 / requestsPerSecond;
    const network = networkOf(request.raw.socket.remoteAddress ?? '');
    const nowMs = performance.now();
    const arrivalMs = Math.max(nowMs, this.#arrivalsMs.get(network) ?? 0);
    const earlyMs = arrivalMs - nowMs - (burst - 1) * intervalMs;
    if (earlyMs > 0) return earlyMs;
    keepNewest(this.#arrivalsMs, network, arrivalMs + intervalMs, maxAddresses);
    return 0;
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, networkBytes)).toString('hex');
}
