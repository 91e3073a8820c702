import { sql } from 'kysely';
import type { Database } from '../transaction.ts';

/**
 * Makes sure that the tenants are kept apart by the database too.
 *
 * @throws Error when the role goes past row-level security.
 */
export async function checkRole(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; goesPast: boolean }>`
    select rolname as name, rolsuper or rolbypassrls as "goesPast" from pg_roles where rolname = current_user
  `.execute(db);
  if (rows[0]?.goesPast !== true) return;
  throw new Error(
    `The role "${rows[0].name}" goes past row-level security, which keeps tenants apart. Give the server a role of its own: create role actlog login password '…'; create database actlog owner actlog;`,
  );
}
