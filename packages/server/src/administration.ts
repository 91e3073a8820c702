import { deleteSession } from './deletion/delete-session.ts';
import { deleteTenant } from './deletion/delete-tenant.ts';
import { identifyApiKey } from './keys/api-key.ts';
import type { DeploymentSecret } from './keys/deployment-secret.ts';
import {
  type CreatedKey,
  type CreateKeyOptions,
  makeKey,
  revokeKey,
  rotateKey,
  withoutDigest,
} from './keys/key-changes.ts';
import { checkedKeyOptions } from './keys/key-options.ts';
import { overlapEndMs } from './keys/lifetime.ts';
import { ensureTenant, tenantIdOf } from './keys/provisioning.ts';
import { changeQuotas, type QuotaChanges } from './quota/quota.ts';
import { type QuotaUse, readQuotaUse } from './quota/quota-use.ts';
import { channelView, type ListedWebhook } from './resources/channel-view.ts';
import { learnConfirmedSession } from './risk/learning.ts';
import { changeToolTags, readToolTags, type ToolTagChanges, type ToolTags } from './risk/tool-tags.ts';
import { allChannels, findChannel } from './storage/channel-store.ts';
import { type DeliveryRow, listDeliveries } from './storage/delivery-store.ts';
import { findKey, listKeys, type StoredKey } from './storage/key-store.ts';
import { changeRetention } from './storage/retention.ts';
import type { Storage } from './storage/storage.ts';
import {
  disableChannel,
  enableChannel,
  rotateChannelSecret,
  unknownChannel,
} from './webhooks/channel-changes.ts';
import { replayDelivery } from './webhooks/replay.ts';

/** What an operator does beside the HTTP interface: tenants, keys, retention, backups, webhooks and their messages. */
export class Administration {
  readonly #storage: Storage;
  readonly #secret: () => Promise<DeploymentSecret>;
  readonly #onKeyChanged: (keyId: string) => void;

  /**
   * @param secret - the deployment's, asked for when it is needed
   * @param onKeyChanged - makes a change count at once in the process that makes it
   */
  constructor(
    storage: Storage,
    secret: () => Promise<DeploymentSecret>,
    onKeyChanged: (keyId: string) => void = () => {},
  ) {
    this.#storage = storage;
    this.#secret = secret;
    this.#onKeyChanged = onKeyChanged;
  }

  /** Makes a tenant, if there is none of this name. @throws RangeError for a name that is none. */
  async createTenant(name: string): Promise<void> {
    await this.#storage.writeAcross('administer', ({ db }) => ensureTenant(db, name));
  }

  /**
   * Deletes a tenant for good, with its keys, sessions, agents, policies and webhooks. Its keys are refused at once, by
   * other servers within a second; its name is free for another. What its checks go by, such as policies and agents, is
   * the last to go, an hour later, so that no check which is still on its way is let through. In backups it stays.
   *
   * @throws Error when there is no such tenant.
   */
  async deleteTenant(name: string): Promise<void> {
    await deleteTenant(this.#storage, name, Date.now(), this.#onKeyChanged);
    await this.#eraseTraces();
  }

  /** The names of all tenants. */
  async tenants(): Promise<string[]> {
    const rows = await this.#storage.readAcross('administer', (db) =>
      db.selectFrom('tenants').select('name').where('deleted_ms', 'is', null).orderBy('name').execute(),
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Makes a key of a tenant.
   *
   * @throws TypeError for options of which one is missing or unknown; RangeError for an end or a name that cannot be;
   * Error when there is no such tenant.
   */
  async createKey(tenant: string, options: CreateKeyOptions): Promise<CreatedKey> {
    const checked = checkedKeyOptions(options);
    return this.#storage.writeAcross('administer', async ({ db }) =>
      makeKey(db, await tenantIdOf(db, tenant), checked),
    );
  }

  /** The keys of a tenant, oldest first. */
  async keys(tenant: string): Promise<StoredKey[]> {
    const records = await this.#storage.readAcross('administer', async (db) =>
      listKeys(db, await tenantIdOf(db, tenant)),
    );
    return records.map(withoutDigest);
  }

  /**
   * Makes a key that takes the place of another: same name, kind and scopes. The old one ends after the overlap.
   *
   * @param overlapDays 0 to 7; 0 ends the old key at once.
   * @param expiresInDays - days until the new key ends; never by default, also where the old one had an end
   * @throws RangeError for other days; Error when there is no such tenant or key, or the key has ended.
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

  /** Ends a key that is at hand in full, as when it was found in public. Returns whether it was a known key. */
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
   * Keeps sessions so many days after their last event; null keeps them for ever, which is the default.
   *
   * @throws RangeError for days that are no whole number from 1 to a hundred years; Error when there is no such tenant.
   */
  async setRetention(tenant: string, days: number | null): Promise<void> {
    await this.#storage.writeAcross('administer', async ({ db }) =>
      changeRetention(db, await tenantIdOf(db, tenant), days),
    );
  }

  /**
   * Bounds what a tenant may store; null takes a bound away, quotas that are not named stay. It counts at once, on
   * every server. What is beyond a new bound stays, and nothing is added to it.
   *
   * @throws TypeError for a name that is no quota; RangeError for a number that is none of at least 0; Error when
   * there is no such tenant.
   */
  async setQuota(tenant: string, changes: QuotaChanges): Promise<void> {
    await this.#storage.writeAcross('administer', async ({ db }) =>
      changeQuotas(db, await tenantIdOf(db, tenant), changes),
    );
  }

  /**
   * How much a tenant has, and may have, of each thing that a quota bounds.
   *
   * @throws Error when there is no such tenant.
   */
  async quota(tenant: string): Promise<QuotaUse> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.read(owner, (db) => readQuotaUse(db, owner, Date.now()));
  }

  /** The tags that a tenant has corrected, by tool name. @throws Error when there is no such tenant. */
  async toolTags(tenant: string): Promise<ToolTags> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.read(owner, (db) => readToolTags(db, owner));
  }

  /**
   * Corrects what the risk engine takes a tenant's tools for, in sessions that begin from now on: one that has begun
   * keeps its tags. `null` goes by the tool's name again; tools that are not named stay as they are.
   *
   * @returns all tags that the tenant has corrected.
   * @throws TypeError for a name or tag that is none; RangeError for more than 1,000 tools; Error when there is no
   * such tenant.
   */
  async setToolTags(tenant: string, changes: ToolTagChanges): Promise<ToolTags> {
    const owner = await this.#tenantId(tenant);
    return this.#storage.write(owner, ({ db }) => changeToolTags(db, owner, changes));
  }

  /**
   * Has later sessions of an agent held against one that scored `high` or `critical` too, because a person has looked at
   * it and found it to be usual work. All others are learned by themselves, half an hour after their last event. The
   * session's own score stays as it is.
   *
   * @returns whether it is now among the sixteen past sessions that are kept of the agent, which are a sample of all.
   * @throws Error when there is no such tenant or session, or when the session has not ended.
   */
  async learnSession(tenant: string, sessionId: string): Promise<boolean> {
    const owner = await this.#tenantId(tenant);
    const outcome = await learnConfirmedSession(this.#storage, owner, sessionId, Date.now());
    if (outcome === 'unknown') throw unknownSession(tenant, sessionId);
    if (outcome === 'not-ended') {
      throw new Error(
        `The session "${sessionId}" may go on: it can be learned half an hour after its last event.`,
      );
    }
    return outcome === 'learned';
  }

  /**
   * Deletes a session for good: its events, its risk, its held actions with what was shown of them, and the messages to
   * webhooks about it, sent or not. What its agent was learned to do usually is a mixture of sessions, and stays. An
   * agent that goes on with the session, or has events of it to send, begins it anew.
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
   * Copies the whole database into a new file while the service runs, as it is at one moment. Requests go on.
   *
   * @throws Error when the file exists or cannot be written, or when the database is PostgreSQL.
   */
  backup(file: string): Promise<void> {
    return this.#storage.backup(file);
  }

  /** The webhooks of a tenant, the oldest first. @throws Error when there is no such tenant. */
  async webhooks(tenant: string): Promise<ListedWebhook[]> {
    const owner = await this.#tenantId(tenant);
    const channels = await this.#storage.read(owner, (db) => allChannels(db, owner));
    return channels.map(channelView);
  }

  /**
   * Sends nothing more to a webhook. What waits for it is given up when its next try is due.
   *
   * @throws Error when there is no such tenant or webhook.
   */
  async disableWebhook(tenant: string, id: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => disableChannel(db, owner, id));
  }

  /**
   * Sends to a webhook again, also one that was disabled because it failed.
   *
   * @throws Error when there is no such tenant or webhook, or when the quota has no room for another active one.
   */
  async enableWebhook(tenant: string, id: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => enableChannel(db, owner, id));
  }

  /**
   * Gives a webhook a new signing secret. Over the overlap messages are signed with both, as Standard Webhooks has it,
   * so that the receiver can change to the new one at any moment; rotated again meanwhile, the oldest one ends.
   *
   * @param overlapDays 0 to 7; 0 ends the old secret at once, as when it has leaked.
   * @returns the secret: the one time that it is shown.
   * @throws RangeError for another overlap; Error when there is no such tenant or webhook, or when the deployment's
   * secret is not the one that its secret is encrypted under.
   */
  async rotateWebhookSecret(tenant: string, id: string, overlapDays = 1): Promise<string> {
    const untilMs = overlapEndMs(overlapDays);
    const owner = await this.#tenantId(tenant);
    const deployment = await this.#secret();
    return this.#storage.write(owner, ({ db }) =>
      rotateChannelSecret(db, deployment, { tenantId: owner, id, untilMs }),
    );
  }

  /** The last messages to a webhook, the newest first. @throws Error when there is no such tenant or webhook. */
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
   * @throws Error when there is none, or when its webhook is disabled, so that nothing is sent to it.
   */
  async replayDelivery(tenant: string, deliveryId: string): Promise<void> {
    const owner = await this.#tenantId(tenant);
    await this.#storage.write(owner, ({ db }) => replayDelivery(db, owner, deliveryId));
  }

  /** What is deleted is deleted, whatever comes of this; the housekeeping of a server does it again, and tells. */
  async #eraseTraces(): Promise<void> {
    await this.#storage.emptyLog().catch(() => {});
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
