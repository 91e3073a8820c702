import type { BusyReceivers } from '../storage/stores/delivery-store.ts';
import type { SlowWebhooks } from './slow-webhooks.ts';

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
