import type { BusyReceivers } from '../storage/delivery-store.ts';
import type { SlowWebhooks } from './slow-webhooks.ts';

/** Tries under way at once of one tenant, whose dead receivers are not to hold up others, and to one webhook. */
const maxPerTenant = 8;
const maxPerChannel = 4;

/**
 * Tries under way at once to webhooks that answer quickly. Those to slow ones do not count: however many receivers
 * are dead, of however many tenants, there is room for the others.
 */
const maxQuick = 32;

/** Tries to webhooks known to be slow, beyond which no more of them begin; and all tries that there ever are. */
const maxSlow = 16;
const maxInAll = 128;

/** A try that is under way. */
export interface Try {
  readonly tenantId: number;
  readonly channelId: string;
}

/** How many tries each tenant, each webhook and the slow ones have, those about to be made included. */
export class Shares {
  readonly #slowWebhooks: SlowWebhooks;
  readonly #tenants = new Map<number, number>();
  readonly #channels = new Map<string, number>();
  #quick = 0;
  #slow = 0;

  constructor(underWay: Iterable<Try>, slowWebhooks: SlowWebhooks) {
    this.#slowWebhooks = slowWebhooks;
    for (const { tenantId, channelId } of underWay) this.#add(tenantId, channelId);
  }

  /** How many more tries may be made. */
  get room(): number {
    return Math.max(0, Math.min(maxQuick - this.#quick, maxInAll - this.#quick - this.#slow));
  }

  /** The tenants and webhooks that have all that they may have. */
  get busy(): BusyReceivers {
    const channelIds = [...this.#channels.keys()].filter((id) => this.#isChannelBusy(id));
    return {
      tenantIds: [...this.#tenants.keys()].filter((id) => this.#isTenantBusy(id)),
      channelIds:
        this.#slow < maxSlow ? channelIds : [...new Set([...channelIds, ...this.#slowWebhooks.ids])],
    };
  }

  /** Counts one more try, and tells whether it may be made. */
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
