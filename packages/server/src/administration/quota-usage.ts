import { activePolicyCost } from '../policy/policy-budget.ts';
import { type Room, readRoom } from '../quota/room.ts';
import { countActivePolicies, countPolicies } from '../storage/policies/policy-store.ts';
import { countActiveChannels, countChannels } from '../storage/stores/channel-store.ts';
import { countActiveJudgments, countJudgments } from '../storage/stores/judgment-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition, quotaNames } from '../storage/stores/quota-table.ts';
import type { Database } from '../storage/transaction.ts';

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
