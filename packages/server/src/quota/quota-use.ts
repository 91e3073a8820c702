import { countActiveChannels } from '../storage/channel-store.ts';
import { countActivePolicies } from '../storage/policy-store.ts';
import type { Database } from '../storage/transaction.ts';
import { findUsage } from '../storage/usage-store.ts';
import { type QuotaName, readQuotas } from './quota.ts';

/** How much of each quota is used; `max` is null where there is no bound. */
export type QuotaUse = Readonly<Record<QuotaName, { readonly used: number; readonly max: number | null }>>;

/** How much of its quotas a tenant has used, in the month of `nowMs`. */
export async function readQuotaUse(db: Database, tenantId: number, nowMs: number): Promise<QuotaUse> {
  const quotas = await readQuotas(db, tenantId);
  const { events, sessions } = await findUsage(db, tenantId, nowMs);
  const use = (name: QuotaName, used: number) => ({ used, max: quotas[name] ?? null });
  return {
    eventsPerMonth: use('eventsPerMonth', events),
    sessions: use('sessions', sessions),
    policies: use('policies', await countActivePolicies(db, tenantId)),
    channels: use('channels', await countActiveChannels(db, tenantId)),
  };
}
