import { CompiledQuery, type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from './schema.ts';

/** Kysely on one open transaction. */
export type Database = Kysely<Tables>;

/** A write: its transaction, and a way to run effects once it is durable. */
export interface Write {
  readonly db: Database;
  /** Runs `effect` after the commit, and never when the transaction is rolled back. */
  afterCommit(effect: () => void): void;
}

/** Runs `work` in one durable transaction, then its effects. */
export async function commit<Result>(
  transaction: (work: (db: Database) => Promise<Result>) => Promise<Result>,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  let effects: (() => void)[] = [];
  const result = await transaction((db) => {
    // A transaction that lost a race runs again; only effects of the last run count.
    effects = [];
    return work({ db, afterCommit: (effect) => effects.push(effect) });
  });
  for (const effect of effects) effect();
  return result;
}

/** `true` if statements run on PostgreSQL; `false` for SQLite. */
export function isPostgres(db: Database): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Kind of work without a single tenant. Row-level security gives each kind only the rows it needs: `authenticate` reads
 * API keys; `administer` manages tenants and API keys; `sweep` finds due work of all tenants, leases deliveries and
 * deletes expired data; `migrate` changes tables, and has no rows.
 */
export type CrossTenantWork = 'authenticate' | 'administer' | 'sweep' | 'migrate';

/** Opens durable transactions of a tenant. */
interface TenantWrites {
  write<Result>(tenantId: number, work: (write: Write) => Promise<Result>): Promise<Result>;
}

/**
 * Runs `work` for groups of several tenants in one durable transaction, with the tenants in a fixed order so that two
 * transactions cannot deadlock. It may run more than once, as in `Storage.write`.
 */
export async function writeForTenants<Group extends { readonly tenantId: number }>(
  storage: TenantWrites,
  groups: readonly Group[],
  work: (write: Write, group: Group) => Promise<void>,
): Promise<void> {
  const sorted = [...groups].sort((left, right) => left.tenantId - right.tenantId);
  const [first] = sorted;
  if (!first) return;
  await storage.write(first.tenantId, async (write) => {
    for (const group of sorted) {
      if (group !== first && isPostgres(write.db)) await enterScope(write.db, group.tenantId);
      await work(write, group);
    }
  });
}

/** Rows visible to a transaction: the rows of one tenant, or those that one kind of cross-tenant work needs. */
export type Scope = number | CrossTenantWork;

/**
 * Returns the statement that sets the scope for the rest of the transaction. The row-level security policies read these
 * two settings; without them, a transaction sees no rows.
 *
 * @throws RangeError for an invalid tenant id.
 */
export function scopeSql(scope: Scope): string {
  if (typeof scope === 'string') {
    return `set local actlog.tenant_id = ''; set local actlog.work = '${scope}'`;
  }
  if (!Number.isSafeInteger(scope)) throw new RangeError(`${scope} is not a tenant id.`);
  return `set local actlog.tenant_id = '${scope}'; set local actlog.work = ''`;
}

/** Runs `work` on the rows of a tenant within a transaction across tenants. */
export async function withinTenant<Result>(
  db: Database,
  tenantId: number,
  outer: CrossTenantWork,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isPostgres(db)) return work();
  await enterScope(db, tenantId);
  const result = await work();
  await enterScope(db, outer);
  return result;
}

/** Changes the scope of an open transaction. */
async function enterScope(db: Database, scope: Scope): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(scopeSql(scope)));
}
