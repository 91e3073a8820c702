import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { LocalPostgres } from '../local-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port of the PostgreSQL server that the tests run on; undefined for tests on SQLite. */
    postgresPort: number | undefined;
  }
}

/** Database with all tables; each test gets a copy of it. */
export const template = 'actlog_template';

/**
 * Creates the tables in a separate process. Vitest resolves imports of a global setup without the project's conditions,
 * so it would not find the sources of other packages before a build.
 */
async function createTables(database: string): Promise<void> {
  const flags = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
  const file = join(import.meta.dirname, 'create-tables.ts');
  await promisify(execFile)(process.execPath, [...flags, file, database]);
}

/** Starts one PostgreSQL server for the whole run, which fails if that is impossible. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const postgres = await LocalPostgres.create();
  if (typeof postgres === 'string') {
    throw new Error(
      `The tests on PostgreSQL need a server: ${postgres}. Run \`npm run setup\` and try again.`,
    );
  }
  await postgres.query('postgres', 'create role actlog login');
  await postgres.query('postgres', `create database ${template} owner actlog`);
  await createTables(postgres.url(template, 'actlog'));
  provide('postgresPort', postgres.port);
  return () => postgres.destroy();
}
