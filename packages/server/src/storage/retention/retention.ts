import type { RetentionClass } from '@actlog/protocol';
import { lockNames } from '../locks.ts';
import type { Database } from '../transaction.ts';

/**
 * Classes of records with a retention of their own: sessions with their events, decisions of checks, held actions with
 * their approvals, and entries of the audit log.
 */
export const retentionClasses = [
  'sessions',
  'decisions',
  'approvals',
  'audit',
] as const satisfies readonly RetentionClass[];

export type { RetentionClass };

/** Days for which each class is kept; `null` for forever. */
export type RetentionDays = Readonly<Record<RetentionClass, number | null>>;

/** Days for which each class is kept at least, by retention and deletions alike; 0 for no floor. */
export type RetentionFloors = Readonly<Record<RetentionClass, number>>;

/** Some classes of a setting. */
export type Given<Setting> = { readonly [Class in keyof Setting]?: Setting[Class] };

/** Retention of a deployment: days for tenants that set none, and the floors of all tenants. */
export interface DeploymentRetention {
  readonly days: RetentionDays;
  readonly floors: RetentionFloors;
}

/** Retention in force for a tenant. */
export type RetentionPolicy = DeploymentRetention;

/** Maximum number of days in any setting: a hundred years. */
export const maxDays = 36_500;

const dayMs = 24 * 3_600_000;

const builtIn: DeploymentRetention = {
  days: { sessions: null, decisions: 183, approvals: 365, audit: 365 },
  // Article 26 (6) of the EU AI Act: logs are kept for at least six months.
  floors: { sessions: 0, decisions: 183, approvals: 183, audit: 183 },
};

/** Names of the rows with the settings of the deployment. */
const rowNames = { days: 'retention', floors: 'retention floors' } as const;

/** Returns the retention of the deployment, as a server has set it last. */
export async function deploymentRetention(db: Database): Promise<DeploymentRetention> {
  const rows = await db
    .selectFrom('deployment')
    .selectAll()
    .where('name', 'in', [rowNames.days, rowNames.floors])
    .execute();
  const stored = (name: string) => rows.find((row) => row.name === name)?.value;
  return {
    days: { ...builtIn.days, ...parsed(stored(rowNames.days)) },
    floors: { ...builtIn.floors, ...(parsed(stored(rowNames.floors)) as Given<RetentionFloors>) },
  };
}

/** Settings of a server. What is not given stays as the database has it. */
export interface RetentionSettings {
  readonly retention?: { readonly [Class in RetentionClass]?: number | null | undefined } | undefined;
  readonly retentionFloors?: { readonly [Class in RetentionClass]?: number | undefined } | undefined;
}

/**
 * Stores the settings of a server for all processes, including commands. Work across tenants.
 *
 * @throws Error when the deployment or a tenant would keep a class for less than its floor
 */
export async function settleRetention(db: Database, settings: RetentionSettings): Promise<void> {
  const stored = await deploymentRetention(db);
  const days: RetentionDays = settings.retention
    ? { ...builtIn.days, ...given<RetentionDays>(settings.retention) }
    : stored.days;
  const floors: RetentionFloors = settings.retentionFloors
    ? { ...builtIn.floors, ...given<RetentionFloors>(settings.retentionFloors) }
    : stored.floors;
  requireFloors(days, floors, '"retention" (ACTLOG_RETENTION)', 'raise it there');
  const tenants = await db
    .selectFrom('tenants')
    .select(['name', 'retention'])
    .where('deleted_ms', 'is', null)
    .where('retention', 'is not', null)
    .execute();
  for (const { name, retention } of tenants) {
    requireFloors(
      parsed(retention),
      floors,
      `the tenant "${name}"`,
      `raise it by \`actlog retention DAYS --CLASS --tenant ${name}\``,
    );
  }
  const values = [
    ...(settings.retention ? [{ name: rowNames.days, value: JSON.stringify(days) }] : []),
    ...(settings.retentionFloors ? [{ name: rowNames.floors, value: JSON.stringify(floors) }] : []),
  ];
  for (const { name, value } of values) {
    await db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}

/** @throws Error for the first class that would be kept for less than its floor. */
function requireFloors(
  days: Given<RetentionDays>,
  floors: RetentionFloors,
  holder: string,
  remedy: string,
): void {
  for (const name of retentionClasses) {
    const kept = days[name];
    if (kept == null || kept >= floors[name]) continue;
    throw new RangeError(
      `The retention of ${name} in ${holder} is ${kept} days, less than their floor of ${floors[name]} days in "retentionFloors" (ACTLOG_RETENTION_FLOORS): ${remedy}, or lower the floor.`,
    );
  }
}

/** Changes of a tenant's retention: days, `null` for forever, or `default` for the retention of the deployment. */
export type RetentionChanges = { readonly [Class in RetentionClass]?: number | null | 'default' };

/**
 * Changes the retention of a tenant. Other classes are unchanged.
 *
 * @throws TypeError for an unknown class; RangeError unless each number is a whole number from 1 to 100 years, and at
 *   least the floor of its class
 */
export async function changeRetention(
  db: Database,
  tenantId: number,
  changes: RetentionChanges,
): Promise<void> {
  for (const [name, days] of Object.entries(changes)) {
    if (!retentionClasses.includes(name as RetentionClass)) {
      throw new TypeError(`There is no retention of "${name}"; it is one of ${retentionClasses.join(', ')}.`);
    }
    if (days === null || days === 'default') continue;
    if (Number.isInteger(days) && (days as number) >= 1 && (days as number) <= maxDays) continue;
    throw new RangeError(`Days must be a whole number from 1 to ${maxDays}, not ${days}.`);
  }
  // Locked, because the retention is read, changed and written back.
  await lockNames(db, tenantId, ['retention']);
  const { floors } = await deploymentRetention(db);
  const merged = Object.entries({ ...(await ownRetention(db, tenantId)), ...changes }).filter(
    ([, days]) => days !== 'default',
  );
  requireFloors(
    Object.fromEntries(merged) as Given<RetentionDays>,
    floors,
    'this change',
    'keep them longer',
  );
  const retention = merged.length === 0 ? null : JSON.stringify(Object.fromEntries(merged));
  await db.updateTable('tenants').set({ retention }).where('id', '=', tenantId).execute();
}

async function ownRetention(db: Database, tenantId: number): Promise<Given<RetentionDays>> {
  const row = await db
    .selectFrom('tenants')
    .select('retention')
    .where('id', '=', tenantId)
    .executeTakeFirst();
  return parsed(row?.retention);
}

/** Returns the retention in force for a tenant. */
export async function retentionPolicy(db: Database, tenantId: number): Promise<RetentionPolicy> {
  const { days, floors } = await deploymentRetention(db);
  return { days: { ...days, ...(await ownRetention(db, tenantId)) }, floors };
}

/** A tenant, and its retention in force. */
export interface TenantRetention {
  readonly tenantId: number;
  readonly policy: RetentionPolicy;
  /** `true` if the log of the tenant has it. */
  readonly isLogged: boolean;
}

/** Returns the retention of all tenants. */
export async function retentions(db: Database): Promise<TenantRetention[]> {
  const { days, floors } = await deploymentRetention(db);
  const tenants = await db
    .selectFrom('tenants')
    .select(['id', 'retention', 'logged_retention'])
    .where('deleted_ms', 'is', null)
    .orderBy('id')
    .execute();
  return tenants.map(({ id, retention, logged_retention: logged }) => {
    const policy = { days: { ...days, ...parsed(retention) }, floors };
    return { tenantId: id, policy, isLogged: logged === JSON.stringify(policy) };
  });
}

/** Returns the days for which retention keeps a class; `null` for forever. Never less than its floor. */
export function daysKept({ days, floors }: RetentionPolicy, name: RetentionClass): number | null {
  const kept = days[name];
  return kept === null ? null : Math.max(kept, floors[name]);
}

/** Returns the time before which records of a class are past retention; `undefined` if they are kept forever. */
export function keptFrom(policy: RetentionPolicy, name: RetentionClass, nowMs: number): number | undefined {
  const days = daysKept(policy, name);
  return days === null ? undefined : nowMs - days * dayMs;
}

/** Returns the time before which records of a class are past their floor. */
export function flooredFrom({ floors }: RetentionPolicy, name: RetentionClass, nowMs: number): number {
  return nowMs - floors[name] * dayMs;
}

function parsed(json: string | null | undefined): Given<RetentionDays> {
  return json == null ? {} : (JSON.parse(json) as Given<RetentionDays>);
}

function given<Setting extends object>(setting: object): Given<Setting> {
  return Object.fromEntries(
    Object.entries(setting).filter(([, value]) => value !== undefined),
  ) as Given<Setting>;
}
