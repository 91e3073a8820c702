import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { KeyAdministration } from './keys.ts';
import { SessionAdministration } from './sessions.ts';
import { TenantAdministration } from './tenants.ts';
import { ToolTagAdministration } from './tool-tags.ts';
import { WebhookAdministration } from './webhooks.ts';

/** Operations that are not part of the HTTP API. */
export class Administration {
  readonly tenants: TenantAdministration;
  readonly keys: KeyAdministration;
  readonly sessions: SessionAdministration;
  readonly toolTags: ToolTagAdministration;
  readonly webhooks: WebhookAdministration;
  readonly #storage: Storage;

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
    this.tenants = new TenantAdministration(storage, onKeyChanged, quotas);
    this.keys = new KeyAdministration(storage, onKeyChanged);
    this.sessions = new SessionAdministration(storage);
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
