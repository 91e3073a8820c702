import { lockNames } from '../storage/locks.ts';
import { preparedQuery } from '../storage/prepared-query.ts';
import type { Database } from '../storage/transaction.ts';

/**
 * What a tenant's quotas bound: the events that are stored in a calendar month (UTC), and the sessions, active
 * policies and active webhooks that it has.
 */
export const quotaNames = ['eventsPerMonth', 'sessions', 'policies', 'channels'] as const;

/** One of the quotas. */
export type QuotaName = (typeof quotaNames)[number];

/** The quotas of a tenant; one that is not named is unbounded. */
export type Quotas = Readonly<Partial<Record<QuotaName, number>>>;

/** What to change: the most that a tenant may have, or null for no bound. Quotas that are not named stay. */
export type QuotaChanges = Readonly<Partial<Record<QuotaName, number | null>>>;

/** A quota that leaves no room. */
export interface ExceededQuota {
  readonly quota: QuotaName;
  readonly max: number;
}

const quotasOf = preparedQuery((db, tenantId: number) =>
  db.selectFrom('tenants').select('quotas').where('id', '=', tenantId),
);

/** The quotas of a tenant. */
export async function readQuotas(db: Database, tenantId: number): Promise<Quotas> {
  const [row] = await quotasOf(db, tenantId);
  return row?.quotas == null ? {} : (JSON.parse(row.quotas) as Quotas);
}

/**
 * Changes quotas of a tenant.
 *
 * @throws TypeError for a name that is no quota; RangeError for a number that is none of at least 0.
 */
export async function changeQuotas(db: Database, tenantId: number, changes: QuotaChanges): Promise<void> {
  for (const [name, max] of Object.entries(changes)) {
    if (!quotaNames.includes(name as QuotaName)) {
      throw new TypeError(`There is no quota "${name}"; there are: ${quotaNames.join(', ')}.`);
    }
    if (max !== null && !(Number.isSafeInteger(max) && max >= 0)) {
      throw new RangeError(`The quota "${name}" must be a whole number of at least 0, not ${max}.`);
    }
  }
  // Read, changed and written back.
  await lockNames(db, tenantId, ['quotas']);
  const merged = Object.entries({ ...(await readQuotas(db, tenantId)), ...changes }).filter(
    ([, max]) => max !== null,
  );
  const quotas = merged.length === 0 ? null : JSON.stringify(Object.fromEntries(merged));
  await db.updateTable('tenants').set({ quotas }).where('id', '=', tenantId).execute();
}
