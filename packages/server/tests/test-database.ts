import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { ServerOptions } from '../src/index.ts';
import { atTestEnd } from './test-end.ts';

/** `true` if this run tests the server on PostgreSQL; `false` for SQLite. */
export const onPostgres: boolean = inject('postgresPort') !== undefined;

/** Secret that a deployment on PostgreSQL requires. */
export const testSecret = 'the one secret of all servers in these tests';

const databases = new Map<string, Promise<string>>();

/**
 * Adds a database of this run's kind to options: the same for the same `database`, a new one without.
 *
 * @param atEnd - registers what ends the use of a new one. Default: after the test
 */
export async function withTestDatabase(options: ServerOptions, atEnd = atTestEnd): Promise<ServerOptions> {
  const { database, secret = testSecret } = options;
  if (!onPostgres || database?.startsWith('postgres:')) return options;
  if (database === undefined || database === ':memory:') {
    return { ...options, secret, database: await emptyDatabase(atEnd) };
  }
  let url = databases.get(database);
  if (!url) {
    url = createDatabase();
    databases.set(database, url);
    atTestEnd(async () => void databases.delete(database));
  }
  return { ...options, secret, database: await url };
}

const spare: string[] = [];

/** Empties a database, which is much cheaper than creating another one. */
const empty = `do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'public'
    and tablename <> 'schema_migrations' and tablename not like 'events_%'
  loop execute 'delete from ' || name; end loop;
  alter table tenants alter column id restart with 1;
end $$`;

/** Returns a database without rows, which is emptied at the end for reuse. */
async function emptyDatabase(atEnd: typeof atTestEnd): Promise<string> {
  const url = spare.pop() ?? (await makeDatabase()).url;
  atEnd(async () => {
    await asSuperuser(empty, url);
    spare.push(url);
  });
  return url;
}

/** A database and the function that drops it. */
interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Creates a database with the server's tables for more than one test. */
export async function makeDatabase(template = 'actlog_template'): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(`create database ${name} template ${template} owner actlog`);
  return {
    url: databaseUrl(name, 'actlog'),
    drop: async () => {
      await asSuperuser(`drop database ${name} with (force)`);
    },
  };
}

/** Creates a database for one test, and returns its address for the server's role. */
export async function createDatabase(template?: string): Promise<string> {
  const { url, drop } = await makeDatabase(template);
  atTestEnd(drop);
  return url;
}

/** Returns the address of a database for a user. */
export function databaseUrl(name: string, user: string): string {
  return `postgres://${user}@127.0.0.1:${inject('postgresPort')}/${name}`;
}

/** Runs statements as the superuser, on the server's own database or on that of an address. */
export async function asSuperuser<Row extends object>(
  statement: string,
  url = databaseUrl('postgres', 'postgres'),
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url.replace('//actlog@', '//postgres@') });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
