import { lockNames } from '../locks.ts';
import { preparedQuery } from '../queries/prepared-query.ts';
import type { Database } from '../transaction.ts';
import { type QuotaName, quotaDefinition, quotaNames } from './quota-table.ts';

export type { QuotaName } from './quota-table.ts';

/** Quotas of a tenant; `null` for no limit. */
export type Quotas = Readonly<Record<QuotaName, number | null>>;

/** Quotas of a deployment, for tenants without their own; `null` for no limit. Others keep their defaults. */
export type DeploymentQuotas = Readonly<Partial<Record<QuotaName, number | null | undefined>>>;

/**
 * Changes of a tenant's quotas: a maximum, `null` for no limit, or `default` for the quota of the deployment. Other
 * quotas are unchanged.
 */
export type QuotaChanges = Readonly<Partial<Record<QuotaName, number | null | 'default'>>>;

/** A quota that is used up. */
export interface ExceededQuota {
  readonly quota: QuotaName;
  readonly max: number;
}

const builtIn = Object.fromEntries(
  quotaNames.map((name) => [name, quotaDefinition(name).defaultMax]),
) as Quotas;

const quotasOf = preparedQuery((db, tenantId: number) =>
  db.selectFrom('tenants').select('quotas').where('id', '=', tenantId),
);

/** Returns the quotas that apply to a tenant. */
export async function readQuotas(
  db: Database,
  tenantId: number,
  deployment: DeploymentQuotas,
): Promise<Quotas> {
  return effectiveQuotas(await storedQuotas(db, tenantId), deployment);
}

/** Returns the quotas that apply to a tenant with these quotas of its own, as JSON; `null` for none. */
export function effectiveQuotas(ownJson: string | null | undefined, deployment: DeploymentQuotas): Quotas {
  const given = Object.entries(deployment).filter(([, max]) => max !== undefined);
  return { ...builtIn, ...Object.fromEntries(given), ...parsed(ownJson) };
}

/**
 * Changes quotas of a tenant.
 *
 * @throws TypeError for an unknown name; RangeError unless each number is a whole number of at least 0.
 */
export async function changeQuotas(db: Database, tenantId: number, changes: QuotaChanges): Promise<void> {
  for (const [name, max] of Object.entries(changes)) {
    if (!quotaNames.includes(name as QuotaName)) {
      throw new TypeError(`There is no quota "${name}"; the quotas are: ${quotaNames.join(', ')}.`);
    }
    if (max !== null && max !== 'default' && !(Number.isSafeInteger(max) && max >= 0)) {
      throw new RangeError(`The quota "${name}" must be a whole number of at least 0, not ${max}.`);
    }
  }
  // Locked, because the quotas are read, changed and written back.
  await lockNames(db, tenantId, ['quotas']);
  const merged = Object.entries({ ...parsed(await storedQuotas(db, tenantId)), ...changes }).filter(
    ([, max]) => max !== 'default',
  );
  const quotas = merged.length === 0 ? null : JSON.stringify(Object.fromEntries(merged));
  await db.updateTable('tenants').set({ quotas }).where('id', '=', tenantId).execute();
}

async function storedQuotas(db: Database, tenantId: number): Promise<string | null | undefined> {
  const [row] = await quotasOf(db, tenantId);
  return row?.quotas;
}

function parsed(json: string | null | undefined): Partial<Quotas> {
  return json == null ? {} : (JSON.parse(json) as Partial<Quotas>);
}
