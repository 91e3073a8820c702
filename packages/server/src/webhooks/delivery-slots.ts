import { keepNewest } from '../lib/keep-newest.ts';
import type { BusyReceivers } from '../storage/stores/delivery-store.ts';

/** Maximum concurrent attempts per tenant, so that its dead receivers do not delay others, and per webhook. */
const maxPerTenant = 8;
const maxPerChannel = 4;

/**
 * Maximum concurrent attempts to responsive webhooks. Attempts to slow ones do not count, so there is room for others
 * however many receivers of however many tenants are dead.
 */
const maxQuick = 32;

/** Maximum concurrent attempts to slow webhooks, and maximum of all attempts. */
const maxSlow = 16;
const maxTotal = 128;

/** An attempt in progress. */
export interface Attempt {
  readonly tenantId: number;
  readonly channelId: string;
}

/** Delivery slots used per tenant, per webhook and by slow webhooks. */
export class DeliverySlots {
  readonly #slowWebhooks: SlowWebhooks;
  readonly #tenants = new Map<number, number>();
  readonly #channels = new Map<string, number>();
  #quick = 0;
  #slow = 0;

  constructor(inProgress: Iterable<Attempt>, slowWebhooks: SlowWebhooks) {
    this.#slowWebhooks = slowWebhooks;
    for (const { tenantId, channelId } of inProgress) this.#add(tenantId, channelId);
  }

  /** Number of free slots. */
  get room(): number {
    return Math.max(0, Math.min(maxQuick - this.#quick, maxTotal - this.#quick - this.#slow));
  }

  /** Tenants and webhooks without free slots. */
  get busy(): BusyReceivers {
    const channelIds = [...this.#channels.keys()].filter((id) => this.#isChannelBusy(id));
    return {
      tenantIds: [...this.#tenants.keys()].filter((id) => this.#isTenantBusy(id)),
      channelIds:
        this.#slow < maxSlow ? channelIds : [...new Set([...channelIds, ...this.#slowWebhooks.ids])],
    };
  }

  /** Takes a slot for an attempt. Returns `false` if there is none. */
  take(tenantId: number, channelId: string): boolean {
    if (this.#isTenantBusy(tenantId) || this.#isChannelBusy(channelId)) return false;
    this.#add(tenantId, channelId);
    return true;
  }

  #isTenantBusy(tenantId: number): boolean {
    return (this.#tenants.get(tenantId) ?? 0) >= maxPerTenant;
  }

  #isChannelBusy(channelId: string): boolean {
    if (this.#slow >= maxSlow && this.#slowWebhooks.has(channelId)) return true;
    return (this.#channels.get(channelId) ?? 0) >= maxPerChannel;
  }

  #add(tenantId: number, channelId: string): void {
    this.#tenants.set(tenantId, (this.#tenants.get(tenantId) ?? 0) + 1);
    this.#channels.set(channelId, (this.#channels.get(channelId) ?? 0) + 1);
    if (this.#slowWebhooks.has(channelId)) this.#slow += 1;
    else this.#quick += 1;
  }
}

/** Duration from which an attempt counts as slow, in milliseconds. */
const slowAfterMs = 1000;

/** Maximum number of slow webhooks that are remembered; the oldest is dropped. */
const maxRemembered = 1000;

/** Webhooks whose receivers responded slowly, or not at all, to this process. */
export class SlowWebhooks {
  readonly #ids = new Set<string>();

  /** Records the duration of an attempt. A slow one marks its webhook as slow, and a fast one removes the mark. */
  record(channelId: string, tookMs: number): void {
    this.#ids.delete(channelId);
    if (tookMs < slowAfterMs) return;
    if (this.#ids.size >= maxRemembered) this.#ids.delete(this.#ids.values().next().value as string);
    this.#ids.add(channelId);
  }

  /** Records the duration so far of an attempt in progress, which counts only if it is already slow. */
  recordInProgress(channelId: string, sinceMs: number, nowMs: number): void {
    if (nowMs - sinceMs >= slowAfterMs) this.record(channelId, nowMs - sinceMs);
  }

  has(channelId: string): boolean {
    return this.#ids.has(channelId);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }
}

/** Attempts that one server process makes to one destination host: on average, and in a burst. */
export interface HostRate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** Destination of an attempt. */
export interface Destination {
  readonly channelId: string;
  readonly tenantId: number;
  /** Host name of the webhook's URL, which other tenants' webhooks may share. */
  readonly host: string;
}

/** State of a host. */
interface HostState {
  /** Theoretical start of the next attempt if attempts came evenly (GCRA, ITU-T I.371), in milliseconds. */
  arrivalMs: number;
  /** Tenants with waiting deliveries, longest waiting first, and the time since when it is their turn. */
  readonly waiting: Map<number, number | undefined>;
}

/** Maximum number of webhooks and hosts that are remembered. A forgotten one is added again at its next attempt. */
const maxRememberedHosts = 10_000;

/** Time after which a tenant loses its turn, because it has no due deliveries any more, in milliseconds. */
const turnMs = 2000;

/**
 * Limits the rate of attempts to each destination host, for all tenants together, so that this service floods no host.
 * Beyond the rate, tenants take turns, so the backlog of one does not delay another on the same host. Deliveries wait
 * in the outbox meanwhile, without using up an attempt.
 */
export class HostRates {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #hosts = new Map<string, HostState>();
  readonly #destinations = new Map<string, Destination>();

  /** @param rate - without it, attempts are not limited */
  constructor(rate: HostRate | undefined) {
    this.#intervalMs = rate === undefined ? 0 : 1000 / rate.requestsPerSecond;
    this.#burstMs = rate === undefined ? Number.POSITIVE_INFINITY : (rate.burst - 1) * this.#intervalMs;
  }

  /** Returns the destination of a webhook, if it is known. */
  destination(channelId: string): Destination | undefined {
    return this.#destinations.get(channelId);
  }

  /** Takes one attempt from the rate of a host. Returns `false` if the delivery must wait. */
  take(destination: Destination, nowMs: number): boolean {
    const { channelId, tenantId, host } = destination;
    keepNewest(this.#destinations, channelId, destination, maxRememberedHosts);
    const state = this.#hosts.get(host) ?? { arrivalMs: nowMs, waiting: new Map() };
    keepNewest(this.#hosts, host, state, maxRememberedHosts);
    if (!this.#isTurnOf(state, tenantId, nowMs)) {
      if (!state.waiting.has(tenantId)) state.waiting.set(tenantId, undefined);
      return false;
    }
    state.waiting.delete(tenantId);
    state.arrivalMs = Math.max(state.arrivalMs, nowMs) + this.#intervalMs;
    return true;
  }

  /** Returns the webhooks whose deliveries must wait now. */
  blocked(nowMs: number): string[] {
    for (const state of this.#hosts.values()) this.#giveTurns(state, nowMs);
    return [...this.#destinations.values()]
      .filter(({ host, tenantId }) => {
        const state = this.#hosts.get(host);
        return state !== undefined && state.waiting.size > 0 && !this.#isTurnOf(state, tenantId, nowMs);
      })
      .map(({ channelId }) => channelId);
  }

  /** Returns the milliseconds until a waiting delivery may be attempted, or `undefined` if none waits. */
  delayMs(nowMs: number): number | undefined {
    const delays = [...this.#hosts.values()]
      .filter(({ waiting }) => waiting.size > 0)
      .map(({ arrivalMs }) => Math.max(0, arrivalMs - this.#burstMs - nowMs));
    return delays.length === 0 ? undefined : Math.min(...delays);
  }

  /** Returns the attempts that may start now. A clock that was set back stops a host for at most its burst. */
  #free(state: HostState, nowMs: number): number {
    if (this.#intervalMs === 0) return Number.POSITIVE_INFINITY;
    const latestMs = nowMs + this.#burstMs + this.#intervalMs;
    if (state.arrivalMs > latestMs + 1000) state.arrivalMs = latestMs;
    const aheadMs = Math.max(0, state.arrivalMs - nowMs);
    return Math.max(0, Math.floor((this.#burstMs - aheadMs) / this.#intervalMs + 1 + 1e-6));
  }

  #isTurnOf(state: HostState, tenantId: number, nowMs: number): boolean {
    const free = this.#free(state, nowMs);
    const place = [...state.waiting.keys()].indexOf(tenantId);
    return place < 0 ? state.waiting.size < free : place < free;
  }

  #giveTurns(state: HostState, nowMs: number): void {
    const free = this.#free(state, nowMs);
    let place = 0;
    for (const [tenantId, sinceMs] of [...state.waiting]) {
      if (place >= free) return;
      place += 1;
      if (sinceMs === undefined) state.waiting.set(tenantId, nowMs);
      else if (nowMs - sinceMs > turnMs) state.waiting.delete(tenantId);
    }
  }
}
