import { deleteSession } from '../deletion/delete-session.ts';
import { deleteTenant } from '../deletion/delete-tenant.ts';
import { identifyApiKey } from '../keys/api-key.ts';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import {
  type CreatedKey,
  type CreateKeyOptions,
  createKey,
  revokeKey,
  rotateKey,
  withoutDigest,
} from '../keys/key-changes.ts';
import { parseKeyOptions } from '../keys/key-options.ts';
import { overlapEndMs } from '../keys/lifetime.ts';
import { ensureTenant } from '../keys/provisioning.ts';
import { channelView, type ListedWebhook } from '../resources/channel-view.ts';
import { learnConfirmedSession } from '../risk/learning.ts';
import { changeToolTags, readToolTags, type ToolTagChanges, type ToolTags } from '../risk/tool-tags.ts';
import { changeRetention } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { allChannels, findChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, listDeliveries } from '../storage/stores/delivery-store.ts';
import { findKey, listKeys, type StoredKey } from '../storage/stores/key-store.ts';
import { changeQuotas, type DeploymentQuotas, type QuotaChanges } from '../storage/stores/quota-store.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';
import {
  disableChannel,
  enableChannel,
  rotateChannelSecret,
  unknownChannel,
} from '../webhooks/channel-changes.ts';
import { replayDelivery } from '../webhooks/replay.ts';
import { type QuotaUsage, readQuotaUsage } from './quota-usage.ts';

/** Operations that are not part of the HTTP API: tenants, keys, retention, backups, webhooks and their messages. */
export class Administration {
  readonly #storage: Storage;
  readonly #secret: () => Promise<DeploymentSecret>;
  readonly #onKeyChanged: (keyId: string) => void;
  readonly #quotas: DeploymentQuotas;

  /**
   * @param secret - returns the deployment's secret; called when it is needed
   * @param onKeyChanged - makes a change take effect at once in this process
   * @param quotas - those of the deployment
   */
  constructor(
    storage: Storage,
    secret: () => Promise<DeploymentSecret>,
    onKeyChanged: (keyId: string) => void = () => {},
    quotas: DeploymentQuotas = {},
  ) {
    this.#storage = storage;
    this.#secret = secret;
    this.#onKeyChanged = onKeyChanged;
    this.#quotas = quotas;
  }

  /** Creates a tenant, unless it exists. @throws RangeError for an invalid name. */
  async createTenant(name: string): Promise<void> {
    await this.#storage.writeAcross('administer', ({ db }) => ensureTenant(db, name));
  }

  /**
   * Deletes a tenant permanently, with its keys, sessions, agents, policies and webhooks. Its keys are refused at once,
   * by other servers within a second, and its name is free again. Data that checks depend on, such as policies and
   * agents, is deleted an hour later, so that a check in progress is not allowed for lack of a policy. Backups still
   * contain the tenant.
   *
   * @throws Error when there is no such tenant.
   */
  async deleteTenant(name: string): Promise<void> {
    await deleteTenant(this.#storage, name, Date.now(), this.#onKeyChanged);
    await this.#eraseTraces();
  }

  /** Returns the names of all tenants. */
  async tenants(): Promise<string[]> {
    const rows = await this.#storage.readAcross('administer', (db) =>
      db.selectFrom('tenants').select('name').where('deleted_ms', 'is', null).orderBy('name').execute(),
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Creates a key of a tenant.
   *
   * @throws TypeError for a missing or unknown option; RangeError for an invalid expiry or name; Error when there is no
   *   such tenant.
   */
  async createKey(tenant: string, options: CreateKeyOptions): Promise<CreatedKey> {
    const checked = parseKeyOptions(options);
    return this.#storage.writeAcross('administer', async ({ db }) =>
      createKey(db, await tenantIdOf(db, tenant), checked),
    );
  }

  /** Returns the keys of a tenant, oldest first. */
  async keys(tenant: string): Promise<StoredKey[]> {
    const records = await this.#storage.readAcross('administer', async (db) =>
      listKeys(db, await tenantIdOf(db, tenant)),
    );
    return records.map(withoutDigest);
  }

  /**
   * Replaces a key by a new one with the same name, kind and scopes. The old key ends after the overlap.
   *
   * @param overlapDays - 0 to 7; 0 ends the old key at once. Default: 1
   * @param expiresInDays - days until the new key expires. Default: never, even if the old key had an expiry
   * @throws RangeError for invalid days; Error when there is no such tenant or key, or when the key has ended.
   */
  async rotateKey(
    tenant: string,
    keyId: string,
    overlapDays = 1,
    expiresInDays?: number,
  ): Promise<CreatedKey> {
    const created = await this.#storage.writeAcross('administer', async ({ db }) =>
      rotateKey(db, await tenantIdOf(db, tenant), keyId, { overlapDays, expiresInDays }),
    );
    if (!created) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
    return created;
  }

  /** Ends a key at once. @throws Error when there is no such tenant or key. */
  async revokeKey(tenant: string, keyId: string): Promise<void> {
    const revoked = await this.#storage.writeAcross('administer', async ({ db }) =>
      revokeKey(db, await tenantIdOf(db, tenant), keyId),
    );
    if (!revoked) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
  }

  /** Ends a key given in full, such as one found in public. Returns `true` if the key was known. */
  async revokeLeakedKey(apiKey: string): Promise<boolean> {
    const identity = identifyApiKey(apiKey);
    if (!identity) return false;
    const isKnown = await this.#storage.writeAcross('administer', async ({ db }) => {
      const found = await findKey(db, identity.id);
      if (found?.digest !== identity.digest) return false;
      return (await revokeKey(db, found.tenantId, found.id)) !== undefined;
    });
    this.#onKeyChanged(identity.id);
    return isKnown;
  }

  /**
   * Sets the days for which sessions are kept after their last event; `null`, the default, keeps them forever.
   *
   * @throws RangeError unless `days` is a whole number from 1 to 100 years; Error when there is no such tenant.
   */
  async setRetention(tenant: string, days: number | null): Promise<void> {
    await this.#storage.writeAcross('administer', async ({ db }) =>
      changeRetention(db, await tenantIdOf(db, tenant), days),
    );
  }

  /**
   * Changes quotas of a tenant: `null` removes the limit, and `default` restores the quota of the deployment. Other
   * quotas are unchanged. Takes effect at once, on every server. Data beyond a new limit is kept, but nothing can be
   * added.
   *
   * @throws TypeError for an unknown quota; RangeError unless each number is a whole number of at least 0; Error when
   *   there is no such tenant.
   */
  async setQuota(tenant: string, changes: QuotaChanges): Promise<void> {
    await this.#storage.writeAcross('administer', async ({ db }) =>
      changeQuotas(db, await tenantIdOf(db, tenant), changes),
    );
  }

  /**
   * Returns a tenant's usage and limit for each quota.
   *
   * @throws Error when there is no such tenant.
   */
  async quota(tenant: string): Promise<QuotaUsage> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.read(owner, (db) => readQuotaUsage(db, owner, this.#quotas, Date.now()));
  }

  /** Returns the corrected tags of a tenant, by tool name. @throws Error when there is no such tenant. */
  async toolTags(tenant: string): Promise<ToolTags> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.read(owner, (db) => readToolTags(db, owner));
  }

  /**
   * Changes the tags by which the risk engine classifies a tenant's tools, for sessions that begin from now on. `null`
   * restores the classification by name. Other tools are unchanged.
   *
   * @returns all corrected tags of the tenant.
   * @throws TypeError for an invalid name or tag; RangeError for more than 1,000 tools; Error when there is no such
   *   tenant.
   */
  async setToolTags(tenant: string, changes: ToolTagChanges): Promise<ToolTags> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.write(owner, ({ db }) => changeToolTags(db, owner, changes));
  }

  /**
   * Adds a session that scored `high` or `critical` to the agent's baseline, after a person confirmed it as expected
   * behavior. Other sessions are added automatically, half an hour after their last event. The session's own score does
   * not change.
   *
   * @returns `true` if the session is now one of the sixteen kept in the baseline, which are a sample of all sessions.
   * @throws Error when there is no such tenant or session, or when the session has not ended.
   */
  async learnSession(tenant: string, sessionId: string): Promise<boolean> {
    const owner = await this.#tenantId(tenant);
    const outcome = await learnConfirmedSession(this.#storage, owner, sessionId, Date.now());
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'not-ended') {
      throw new Error(
        `The session "${sessionId}" has not ended: it can be learned half an hour after its last event.`,
      );
    }
    return outcome === 'learned';
  }

  /**
   * Deletes a session permanently: its events, its risk, its held actions with their displayed arguments, and the
   * messages to webhooks about it, sent or not. The agent's baseline combines several sessions and is unchanged.
   * Further events of the session create it again.
   *
   * @throws Error when there is no such tenant or session, or when an action of the session waits for a decision.
   */
  async deleteSession(tenant: string, sessionId: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    const outcome = await deleteSession(this.#storage, owner, sessionId, Date.now());
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'waiting') {
      throw new Error(
        `An action of the session "${sessionId}" waits for a decision: approve or deny it first.`,
      );
    }
    await this.#eraseTraces();
  }

  /**
   * Copies one snapshot of the whole database into a new file while the service runs.
   *
   * @throws Error when the file exists or cannot be written, or when the database is PostgreSQL.
   */
  backup(file: string): Promise<void> {
    return this.#storage.backup(file);
  }

  /** Returns the webhooks of a tenant, oldest first. @throws Error when there is no such tenant. */
  async webhooks(tenant: string): Promise<ListedWebhook[]> {
    const owner = await this.#tenantId(tenant);
    const channels = await this.#storage.read(owner, (db) => allChannels(db, owner));
    return channels.map(channelView);
  }

  /**
   * Disables a webhook. Waiting messages fail when their next attempt is due.
   *
   * @throws Error when there is no such tenant or webhook.
   */
  async disableWebhook(tenant: string, id: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => disableChannel(db, owner, id));
  }

  /**
   * Enables a webhook, including one that was disabled because it failed.
   *
   * @throws Error when there is no such tenant or webhook, or when the quota does not allow another active one.
   */
  async enableWebhook(tenant: string, id: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => enableChannel(db, owner, id, this.#quotas));
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
  async rotateWebhookSecret(tenant: string, id: string, overlapDays = 1): Promise<string> {
    const untilMs = overlapEndMs(overlapDays);
    const owner = await this.#tenantId(tenant);
    const deployment = await this.#secret();
    return this.#storage.write(owner, ({ db }) =>
      rotateChannelSecret(db, deployment, { tenantId: owner, id, untilMs }),
    );
  }

  /** Returns the last messages to a webhook, newest first. @throws Error when there is no such tenant or webhook. */
  async deliveries(tenant: string, channelId: string, limit = 100): Promise<DeliveryRow[]> {
    const owner = await this.#tenantId(tenant);
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
  async replayDelivery(tenant: string, deliveryId: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => replayDelivery(db, owner, deliveryId));
  }

  /** Removes deleted data from the log. A failure is ignored: the cleanup of a server repeats and reports it. */
  async #eraseTraces(): Promise<void> {
    await this.#storage.truncateLog().catch(() => {});
  }

  #tenantId(name: string): Promise<number> {
    return this.#storage.readAcross('administer', (db) => tenantIdOf(db, name));
  }
}

function unknownSession(tenant: string, sessionId: string): Error {
  return new Error(`The tenant "${tenant}" has no session "${sessionId}".`);
}

function unknownKey(tenant: string, keyId: string): Error {
  return new Error(`The tenant "${tenant}" has no key "${keyId}".`);
}
