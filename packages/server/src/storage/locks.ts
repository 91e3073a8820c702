import { createHash } from 'node:crypto';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';
import { type Database, isPostgres } from './transaction.ts';

/**
 * Locks names until the transaction ends, so that of racing transactions each sees the writes of the one before.
 * `shared` locks exclude only exclusive ones. All locks are acquired in one order. On SQLite this does nothing, because
 * a write transaction locks the whole database.
 *
 * Transactions that lock more than names do so in this order: names, sessions, events, agents, usage, deliveries.
 */
export async function lockNames(
  db: Database,
  tenantId: number,
  names: readonly string[],
  how: 'alone' | 'shared' = 'alone',
): Promise<void> {
  if (names.length === 0 || !isPostgres(db)) return;
  const keys = [...new Set(names.map((name) => lockKey(tenantId, name)))].sort();
  const lock = sql.raw(how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`select ${lock}(key::bigint) from unnest(${keys}::text[]) as wanted(key)`.execute(db);
}

/** Returns the key of a lock: 64 bits of a hash. Names that collide only wait for each other. */
export function lockKey(tenantId: number, name: string): string {
  return createHash('sha256').update(`${tenantId} ${name}`).digest().readBigInt64BE().toString();
}

/** Treatment of rows that another transaction has locked: wait for them, or skip them. */
export type RowLock = 'wait' | 'skip';

/** Locks the rows that a query finds until the transaction ends. On SQLite the query is returned unchanged. */
export function lockRows<From extends keyof Tables, Row>(
  db: Database,
  query: SelectQueryBuilder<Tables, From, Row>,
  how: RowLock = 'wait',
): SelectQueryBuilder<Tables, From, Row> {
  if (!isPostgres(db)) return query;
  return how === 'skip' ? query.forUpdate().skipLocked() : query.forUpdate();
}
