import type { Kysely, Transaction } from 'kysely';
import { initial } from './migrations/0001-initial.ts';
import { policies } from './migrations/0002-policies.ts';
import { webhooks } from './migrations/0003-webhooks.ts';
import { risk } from './migrations/0004-risk.ts';
import type { Tables } from './schema.ts';

/** One step from one shape of the tables to the next. */
export interface Migration {
  /** Sorts after all earlier names. */
  readonly name: string;
  up(db: Transaction<Tables>): Promise<void>;
}

/** All steps, oldest first. A released step is never changed. */
const migrations: readonly Migration[] = [initial, policies, webhooks, risk];

/**
 * Brings the tables up to date in one transaction that holds the write lock, so that of several servers that
 * start at once one does the work and the others find it done.
 *
 * @throws Error when the database was written by a newer release.
 */
export async function migrate(database: Kysely<Tables>): Promise<void> {
  await database.transaction().execute(async (db) => {
    await db.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('applied_ms', 'bigint', (column) => column.notNull())
      .execute();
    const applied = new Set(
      (await db.selectFrom('schema_migrations').select('name').execute()).map((row) => row.name),
    );
    const unknown = [...applied].find((name) => !migrations.some((migration) => migration.name === name));
    if (unknown !== undefined) {
      throw new Error(
        `The database was written by a newer release (it has the migration "${unknown}"). Start that release, or restore a backup.`,
      );
    }
    for (const migration of migrations) {
      if (applied.has(migration.name)) continue;
      await migration.up(db);
      await db
        .insertInto('schema_migrations')
        .values({ name: migration.name, applied_ms: Date.now() })
        .execute();
    }
  });
}
