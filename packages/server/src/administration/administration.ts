import type { HistoryReader } from '../history/history-reader.ts';
import { changeToolTags, readToolTags, type ToolTagChanges, type ToolTags } from '../risk/tool-tags.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { operator, recordUnlimited } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { KeyAdministration } from './keys.ts';
import { LegalHoldAdministration } from './legal-holds.ts';
import { SessionAdministration } from './sessions.ts';
import { findTenantId, TenantAdministration } from './tenants.ts';
import { WebhookAdministration } from './webhooks.ts';

/** Operations that are not part of the HTTP API. */
export class Administration {
  readonly tenants: TenantAdministration;
  readonly keys: KeyAdministration;
  readonly sessions: SessionAdministration;
  readonly legalHolds: LegalHoldAdministration;
  readonly toolTags: ToolTagAdministration;
  readonly webhooks: WebhookAdministration;
  readonly #storage: Storage;

  /**
   * @param secret - returns the deployment's secret; called when it is needed
   * @param onKeyChanged - makes a change take effect at once in this process
   * @param quotas - those of the deployment
   * @param history - reads the history, if the deployment has one
   */
  constructor(
    storage: Storage,
    secret: () => Promise<DeploymentSecret>,
    onKeyChanged: (keyId: string) => void = () => {},
    quotas: DeploymentQuotas = {},
    history?: HistoryReader,
  ) {
    this.#storage = storage;
    this.tenants = new TenantAdministration(storage, onKeyChanged, quotas);
    this.keys = new KeyAdministration(storage, onKeyChanged);
    this.sessions = new SessionAdministration(storage, history);
    this.legalHolds = new LegalHoldAdministration(storage);
    this.toolTags = new ToolTagAdministration(storage);
    this.webhooks = new WebhookAdministration(storage, secret, quotas);
  }

  /**
   * Copies one snapshot of the whole database into a new file while the service runs.
   *
   * @throws Error when the file exists or cannot be written, or when the database is PostgreSQL.
   */
  backup(file: string): Promise<void> {
    return this.#storage.backup(file);
  }
}

/** Corrected tags of tenants' tools. */
export class ToolTagAdministration {
  readonly #storage: Storage;

  /** @internal */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Returns the corrected tags of a tenant, by tool name. @throws Error when there is no such tenant. */
  async list(tenant: string): Promise<ToolTags> {
    const owner = await findTenantId(this.#storage, tenant);
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
  async set(tenant: string, changes: ToolTagChanges): Promise<ToolTags> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.write(owner, async ({ db }) => {
      const tags = await changeToolTags(db, owner, changes);
      await recordUnlimited(db, owner, operator, {
        action: 'tenant.tool_tags_changed',
        target: { id: tenant, name: tenant },
        changes: Object.entries(changes).map(([field, after]) => ({ field, after })),
      });
      return tags;
    });
  }
}
