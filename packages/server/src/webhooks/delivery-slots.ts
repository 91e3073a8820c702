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
