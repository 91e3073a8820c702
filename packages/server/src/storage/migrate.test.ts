import { Kysely } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { type Migration, migrate } from './migrate.ts';
import { sqliteMigrations } from './migrations/sqlite.ts';
import type { Tables } from './schema.ts';
import { SqliteConnection, sqliteDialect } from './sqlite/sqlite-connection.ts';

const applied: string[] = [];

function later(name: string): Migration {
  return {
    name,
    async up(db) {
      applied.push(name);
      await db.schema.alterTable('agents').addColumn(name.slice(5), 'text').execute();
    },
  };
}

/** Migrates an in-memory database, and returns the reported progress. */
function migrated(database: Kysely<Tables>, migrations: readonly Migration[]): Promise<string[]> {
  const messages: string[] = [];
  return database
    .transaction()
    .execute((db) => migrate(db, migrations, (message) => messages.push(message)))
    .then(() => messages);
}

function emptyDatabase(): Kysely<Tables> {
  const connection = new SqliteConnection({ file: ':memory:', writes: true });
  const database = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
  onTestFinished(() => database.destroy());
  return database;
}

test('creates the tables without a report, and applies each later migration once with one', async () => {
  const database = emptyDatabase();
  expect(await migrated(database, sqliteMigrations)).toEqual([]);
  const all = [...sqliteMigrations, later('0002-nickname'), later('0003-color')];
  expect(await migrated(database, all)).toEqual([
    'applying migration 0002-nickname (1 of 2)',
    'applying migration 0003-color (2 of 2)',
  ]);
  expect(await migrated(database, all)).toEqual([]);
  expect(applied).toEqual(['0002-nickname', '0003-color']);
});

test('refuses a database that a newer release has written', async () => {
  const database = emptyDatabase();
  await migrated(database, [...sqliteMigrations, later('0002-nickname')]);
  await expect(migrated(database, sqliteMigrations)).rejects.toThrow(
    'The database was written by a newer release (it has the migration "0002-nickname").',
  );
});
