import { ApiError } from './api-error.ts';

/** Maximum pieces of work of one tenant that wait; further ones are rejected. */
const maxWaiting = 1000;

/** Returns the error for work whose caller has disconnected. */
export function callerGone(): ApiError {
  return new ApiError('OVERLOADED', 'The caller has disconnected.', { retryAfterSeconds: 1 });
}

/** Yields to the event loop and to the work of other tenants, then resolves. */
export type Turn = () => Promise<void>;

/** Time in one turn of the event loop after which work of a tenant no longer starts at once, in milliseconds. */
const sliceMs = 1;

/** Time since another tenant's request in which work pauses for as long as it took, in milliseconds. */
const sharedMs = 1000;

/** Maximum duration of such a pause, in milliseconds. */
const maxPauseMs = 20;

/** Work of one tenant. */
interface TenantWork {
  running: number;
  /** Turn of the event loop in which work last started at once, and the time of its first start. */
  turn: number;
  turnBeganMs: number;
  /** Started work that waits for its next turn. */
  readonly paused: (() => void)[];
  /** Work that has not started. */
  readonly waiting: (() => void)[];
}

/**
 * Shares the event loop between tenants. A limited number of pieces of work per tenant run concurrently. Waiting work
 * starts or resumes one piece per turn of the event loop, alternating between tenants. While several tenants send
 * requests, a long piece is followed by a pause of the same length: a request takes several turns of the event loop, so
 * it then waits for one or two pieces instead of one in each of its turns.
 */
export class TenantTurns {
  readonly #maxRunning: number;
  readonly #tenants = new Map<number, TenantWork>();
  /** Tenants with work that can run, in order. */
  readonly #ready = new Set<TenantWork>();
  #isScheduled = false;
  #turn = 0;
  #isTurnCounted = false;
  /** Tenant of the latest request, and time of the latest request of any other tenant. */
  #latest: number | undefined;
  #latestOtherMs = Number.NEGATIVE_INFINITY;
  #latestMs = Number.NEGATIVE_INFINITY;

  /** @param maxRunning - maximum concurrent pieces of work per tenant */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  /** Records a request of a tenant. */
  note(tenantId: number): void {
    if (this.#latest !== tenantId) this.#latestOtherMs = this.#latestMs;
    this.#latest = tenantId;
    this.#latestMs = performance.now();
  }

  /**
   * Runs work of a tenant: at once, unless the tenant has too much work running or has used up its time in this turn of
   * the event loop.
   *
   * @param work - receives a function to await after each millisecond or so
   * @param disconnected - returns a signal that aborts when the caller disconnects
   * @throws ApiError `OVERLOADED` when too much work of the tenant is waiting, or when `disconnected` aborts before the work
   *   starts.
   */
  async run<Result>(
    tenantId: number,
    work: (turn: Turn) => Promise<Result>,
    disconnected?: () => AbortSignal,
  ): Promise<Result> {
    const tenant = this.#tenantOf(tenantId);
    if (this.#canStart(tenant)) tenant.running += 1;
    else await this.#begin(tenant, disconnected);
    try {
      return await work(() => this.#pause(tenant));
    } finally {
      tenant.running -= 1;
      this.#wake(tenant);
    }
  }

  #tenantOf(tenantId: number): TenantWork {
    let tenant = this.#tenants.get(tenantId);
    if (!tenant) {
      tenant = { running: 0, turn: -1, turnBeganMs: 0, paused: [], waiting: [] };
      this.#tenants.set(tenantId, tenant);
    }
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true;
      setImmediate(() => this.#endTurn());
    }
    return tenant;
  }

  /**
   * `true` if work may start at once. Several requests may arrive in one turn and each finish before the next is read.
   */
  #canStart(tenant: TenantWork): boolean {
    const { running, paused, waiting } = tenant;
    if (running >= this.#maxRunning || paused.length > 0 || waiting.length > 0) return false;
    const nowMs = performance.now();
    if (tenant.turn === this.#turn) return nowMs - tenant.turnBeganMs < sliceMs;
    tenant.turn = this.#turn;
    tenant.turnBeganMs = nowMs;
    return true;
  }

  #endTurn(): void {
    this.#isTurnCounted = false;
    this.#turn += 1;
    for (const [tenantId, { running, waiting }] of this.#tenants) {
      if (running === 0 && waiting.length === 0) this.#tenants.delete(tenantId);
    }
  }

  async #begin(tenant: TenantWork, disconnected: (() => AbortSignal) | undefined): Promise<void> {
    if (tenant.waiting.length >= maxWaiting) {
      throw new ApiError(
        'OVERLOADED',
        'Too many requests of this tenant are waiting. Send this one again later.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    const signal = disconnected?.();
    await new Promise<void>((resolve) => {
      tenant.waiting.push(resolve);
      this.#wake(tenant);
    });
    if (!signal?.aborted) return;
    tenant.running -= 1;
    this.#wake(tenant);
    throw callerGone();
  }

  #pause(tenant: TenantWork): Promise<void> {
    return new Promise((resolve) => {
      tenant.paused.push(resolve);
      this.#wake(tenant);
    });
  }

  /** Queues a tenant for its turn, if it has work that can run. */
  #wake(tenant: TenantWork): void {
    if (!this.#canRun(tenant)) return;
    this.#ready.add(tenant);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#next());
  }

  #canRun({ running, paused, waiting }: TenantWork): boolean {
    return paused.length > 0 || (waiting.length > 0 && running < this.#maxRunning);
  }

  #next(): void {
    const [tenant] = this.#ready;
    if (!tenant) {
      this.#isScheduled = false;
      return;
    }
    this.#ready.delete(tenant);
    const beganMs = performance.now();
    const resume = tenant.paused.shift();
    if (resume) {
      resume();
    } else if (this.#canRun(tenant)) {
      tenant.running += 1;
      tenant.waiting.shift()?.();
    }
    if (this.#canRun(tenant)) this.#ready.add(tenant);
    // The piece runs before the next turn of the event loop.
    setImmediate(() => this.#afterPiece(performance.now() - beganMs));
  }

  #afterPiece(tookMs: number): void {
    const isShared = performance.now() - this.#latestOtherMs < sharedMs;
    if (isShared && tookMs > sliceMs) setTimeout(() => this.#next(), Math.min(tookMs, maxPauseMs));
    else this.#next();
  }
}
