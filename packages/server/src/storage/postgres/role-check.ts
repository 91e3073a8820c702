import { sql } from 'kysely';
import type { Database } from '../transaction.ts';

/**
 * Checks that the database isolates tenants, too.
 *
 * @throws Error when the role bypasses row-level security.
 */
export async function checkRole(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; bypassesRls: boolean }>`
    select rolname as name, rolsuper or rolbypassrls as "bypassesRls" from pg_roles where rolname = current_user
  `.execute(db);
  if (rows[0]?.bypassesRls !== true) return;
  throw new Error(
    `The role "${rows[0].name}" bypasses row-level security, which isolates tenants. Create a separate role for the server: create role actlog login password '…'; create database actlog owner actlog;`,
  );
}
