import type { TestProject } from 'vitest/node';
import { openStorage } from '../../src/storage/open-storage.ts';
import { LocalPostgres } from '../local-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the PostgreSQL that tests run on; undefined where they run on SQLite. */
    postgresPort: number | undefined;
    /** Why there is none, where there should be one. */
    postgresMissing: string | undefined;
  }
}

/** The database that every test's database is a copy of, with its tables made. */
export const template = 'actlog_template';

/** Starts one PostgreSQL for the whole run. */
export default async function setUp({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const postgres = await LocalPostgres.create();
  if (typeof postgres === 'string') {
    console.warn(`NOT TRIED on PostgreSQL: ${postgres}.`);
    provide('postgresMissing', postgres);
    return undefined;
  }
  await postgres.query('postgres', 'create role actlog login');
  await postgres.query('postgres', `create database ${template} owner actlog`);
  await (await openStorage({ database: postgres.url(template, 'actlog') })).close();
  provide('postgresPort', postgres.port);
  return () => postgres.destroy();
}
