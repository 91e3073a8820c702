import { type DeleteOptions, deleteTenant } from '../deletion/delete-tenant.ts';
import { activePolicyCost } from '../policy/policy-set.ts';
import { countActivePolicies, countPolicies } from '../storage/policies/policy-store.ts';
import {
  type RetentionChanges,
  type RetentionPolicy,
  retentionPolicy,
} from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { countActiveChannels, countChannels } from '../storage/stores/channel-store.ts';
import { countActiveJudgments, countJudgments } from '../storage/stores/judgment-store.ts';
import {
  changeQuotas,
  type DeploymentQuotas,
  type QuotaChanges,
  type Room,
  readRoom,
} from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition, quotaNames } from '../storage/stores/quota-table.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type Change, operator, recordUnlimited } from '../tenants/audit-log.ts';
import { ensureTenant } from '../tenants/provisioning.ts';
import { changeRetentionPolicy } from '../tenants/retention-policy.ts';

/** Tenants with their retention and quotas. */
export class TenantAdministration {
  readonly #storage: Storage;
  readonly #onKeyChanged: (keyId: string) => void;
  readonly #quotas: DeploymentQuotas;

  /** @internal */
  constructor(storage: Storage, onKeyChanged: (keyId: string) => void, quotas: DeploymentQuotas) {
    this.#storage = storage;
    this.#onKeyChanged = onKeyChanged;
    this.#quotas = quotas;
  }

  /** Creates a tenant, unless it exists. @throws RangeError for an invalid name. */
  async create(name: string): Promise<void> {
    await this.#storage.writeAcross('administer', ({ db }) => ensureTenant(db, name));
  }

  /**
   * Deletes a tenant permanently, with its keys, sessions, agents, policies and webhooks. Its keys are refused at once,
   * by other servers within a second, and its name is free again. Data that checks depend on, such as policies and
   * agents, is deleted an hour later, so that a check in progress is not allowed for lack of a policy. Backups still
   * contain the tenant.
   *
   * @throws ProtectedRecordsError when the tenant has a legal hold, or records before their floor and no erasure is
   *   given; Error when there is no such tenant.
   */
  async delete(name: string, options: DeleteOptions = {}): Promise<void> {
    await deleteTenant(this.#storage, name, Date.now(), this.#onKeyChanged, options);
    await eraseTraces(this.#storage);
  }

  /** Returns the names of all tenants. */
  async list(): Promise<string[]> {
    const rows = await this.#storage.readAcross('administer', (db) =>
      db.selectFrom('tenants').select('name').where('deleted_ms', 'is', null).orderBy('name').execute(),
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Changes the days for which classes of a tenant's records are kept: sessions after their last event, decisions, held
   * actions and entries of the audit log after they were final. `null` keeps a class forever, and `default` restores the
   * retention of the deployment. Other classes are unchanged.
   *
   * @throws TypeError for an unknown class; RangeError unless each number is a whole number from 1 to 100 years, and at
   *   least the floor of its class; Error when there is no such tenant.
   */
  async setRetention(tenant: string, changes: RetentionChanges): Promise<void> {
    await changeRetentionPolicy(this.#storage, await findTenantId(this.#storage, tenant), changes);
  }

  /** Returns the retention and the floors in force for a tenant. @throws Error when there is no such tenant. */
  async retention(tenant: string): Promise<RetentionPolicy> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.read(owner, (db) => retentionPolicy(db, owner));
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
    await this.#change(tenant, async (db, tenantId) => {
      await changeQuotas(db, tenantId, changes);
      return {
        action: 'tenant.quotas_changed',
        target: { id: tenant, name: tenant },
        changes: Object.entries(changes).map(([field, after]) => ({ field, after })),
      };
    });
  }

  /**
   * Returns a tenant's usage and limit for each quota.
   *
   * @throws Error when there is no such tenant.
   */
  async quota(tenant: string): Promise<QuotaUsage> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.read(owner, (db) => readQuotaUsage(db, owner, this.#quotas, Date.now()));
  }

  /** Changes settings of a tenant, with the entry of the audit log that `change` returns. */
  async #change(tenant: string, change: (db: Database, tenantId: number) => Promise<Change>): Promise<void> {
    const owner = await findTenantId(this.#storage, tenant);
    await this.#storage.write(owner, async ({ db }) =>
      recordUnlimited(db, owner, operator, await change(db, owner)),
    );
  }
}

/** Returns the id of the tenant with a name. @throws Error when there is no such tenant. */
export function findTenantId(storage: Storage, name: string): Promise<number> {
  return storage.readAcross('administer', (db) => tenantIdOf(db, name));
}

/** Removes deleted data from the log. A failure is ignored: the cleanup of a server repeats and reports it. */
export async function eraseTraces(storage: Storage): Promise<void> {
  await storage.truncateLog().catch(() => {});
}

/** Usage of each quota; `max` is `null` for no limit. */
export type QuotaUsage = Readonly<Record<QuotaName, { readonly used: number; readonly max: number | null }>>;

/** Queries for quotas that writes do not count. Each has few rows. */
const counts: Partial<Record<QuotaName, (db: Database, tenantId: number) => Promise<number>>> = {
  policies: countActivePolicies,
  storedPolicies: countPolicies,
  policyCost: activePolicyCost,
  judgments: countActiveJudgments,
  storedJudgments: countJudgments,
  channels: countActiveChannels,
  storedChannels: countChannels,
};

/** Returns a tenant's usage of its quotas, in the month of `nowMs`. */
export async function readQuotaUsage(
  db: Database,
  tenantId: number,
  deployment: DeploymentQuotas,
  nowMs: number,
): Promise<QuotaUsage> {
  const room = await readRoom(db, tenantId, deployment, nowMs);
  const use: Partial<Record<QuotaName, { used: number; max: number | null }>> = {};
  for (const name of quotaNames) {
    use[name] = { used: await usedOf(db, tenantId, name, room), max: room.quotas[name] };
  }
  return use as QuotaUsage;
}

async function usedOf(db: Database, tenantId: number, name: QuotaName, room: Room): Promise<number> {
  const { usage } = quotaDefinition(name);
  return usage === undefined ? ((await counts[name]?.(db, tenantId)) ?? 0) : room.used[usage];
}
