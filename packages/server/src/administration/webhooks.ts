import { channelView, type ListedWebhook } from '../resources/notification-channels.ts';
import type { Storage } from '../storage/storage.ts';
import { allChannels, findChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, listDeliveries } from '../storage/stores/delivery-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { operator, recordUnlimited } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { overlapEndMs } from '../tenants/lifetime.ts';
import {
  type ChangedChannel,
  disableChannel,
  enableChannel,
  replayDelivery,
  rotateChannelSecret,
  unknownChannel,
} from '../webhooks/channel-changes.ts';
import { findTenantId } from './tenants.ts';

/** Webhooks of tenants, and their messages. */
export class WebhookAdministration {
  readonly #storage: Storage;
  readonly #secret: () => Promise<DeploymentSecret>;
  readonly #quotas: DeploymentQuotas;

  /** @internal */
  constructor(storage: Storage, secret: () => Promise<DeploymentSecret>, quotas: DeploymentQuotas) {
    this.#storage = storage;
    this.#secret = secret;
    this.#quotas = quotas;
  }

  /** Returns the webhooks of a tenant, oldest first. @throws Error when there is no such tenant. */
  async list(tenant: string): Promise<ListedWebhook[]> {
    const owner = await findTenantId(this.#storage, tenant);
    const channels = await this.#storage.read(owner, (db) => allChannels(db, owner));
    return channels.map(channelView);
  }

  /**
   * Disables a webhook. Waiting messages fail when their next attempt is due.
   *
   * @throws Error when there is no such tenant or webhook.
   */
  async disable(tenant: string, id: string): Promise<void> {
    await this.#change(tenant, (db, owner) => disableChannel(db, owner, id));
  }

  /**
   * Enables a webhook, including one that was disabled because it failed.
   *
   * @throws Error when there is no such tenant or webhook, or when the quota does not allow another active one.
   */
  async enable(tenant: string, id: string): Promise<void> {
    await this.#change(tenant, (db, owner) => enableChannel(db, owner, id, this.#quotas));
  }

  /**
   * Replaces the signing secret of a webhook. During the overlap messages are signed with both secrets, as in Standard
   * Webhooks, so the receiver can switch at any time. Another rotation during the overlap ends the oldest secret.
   *
   * @param overlapDays - 0 to 7; 0 ends the old secret at once, as after a leak. Default: 1
   * @returns the secret; it is shown only this once.
   * @throws RangeError for an invalid overlap; Error when there is no such tenant or webhook, or when the deployment's
   *   secret is not the one under which the webhook's secret is encrypted.
   */
  async rotateSecret(tenant: string, id: string, overlapDays = 1): Promise<string> {
    const untilMs = overlapEndMs(overlapDays);
    const deployment = await this.#secret();
    const { secret } = await this.#change(tenant, (db, owner) =>
      rotateChannelSecret(db, deployment, { tenantId: owner, id, untilMs }),
    );
    return secret;
  }

  /** Returns the last messages to a webhook, newest first. @throws Error when there is no such tenant or webhook. */
  async deliveries(tenant: string, channelId: string, limit = 100): Promise<DeliveryRow[]> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.read(owner, async (db) => {
      if (!(await findChannel(db, owner, channelId))) throw unknownChannel(channelId);
      return listDeliveries(db, owner, channelId, limit);
    });
  }

  /**
   * Sends a message again, whether it was delivered or had failed.
   *
   * @throws Error when there is no such delivery, or when its webhook is disabled.
   */
  async replay(tenant: string, deliveryId: string): Promise<void> {
    await this.#change(tenant, (db, owner) => replayDelivery(db, owner, deliveryId));
  }

  /** Changes a webhook in one transaction with its entry in the audit log. */
  async #change<Result extends ChangedChannel>(
    tenant: string,
    work: (db: Database, owner: number) => Promise<Result>,
  ): Promise<Result> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.write(owner, async ({ db }) => {
      const result = await work(db, owner);
      if (result.change) await recordUnlimited(db, owner, operator, result.change);
      return result;
    });
  }
}
