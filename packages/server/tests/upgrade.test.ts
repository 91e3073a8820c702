import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../src/storage/migrate.ts';
import { postgresMigrations } from '../src/storage/migrations/postgres.ts';
import { sqliteMigrations } from '../src/storage/migrations/sqlite.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { PostgresPool } from '../src/storage/postgres/pool.ts';
import { enterScope } from '../src/storage/postgres/scope.ts';
import type { Tables } from '../src/storage/schema.ts';
import { SqliteConnection } from '../src/storage/sqlite-connection.ts';
import { sqliteDialect } from '../src/storage/sqlite-dialect.ts';
import type { Database } from '../src/storage/transaction.ts';
import { commandLine, run } from './command-line.ts';
import { createDatabase, onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

async function emptyDatabase(): Promise<Kysely<Tables>> {
  const dialect = onPostgres
    ? new PostgresDialect({
        pool: new PostgresPool({ url: await createDatabase('template0'), connections: 1 }),
      })
    : sqliteDialect(new SqliteConnection({ file: ':memory:', writes: true }));
  const database = new Kysely<Tables>({ dialect });
  atTestEnd(() => database.destroy());
  return database;
}

async function scope(db: Database, tenantId: number | 'partition' | 'administer'): Promise<void> {
  if (onPostgres) await enterScope(db, tenantId);
}

test('what a database holds from before is counted and found by its risk after an upgrade', async () => {
  const migrations = onPostgres ? postgresMigrations : sqliteMigrations;
  const before = migrations.findIndex(({ name }) => name.endsWith('tool-tags'));
  const database = await emptyDatabase();
  await database.transaction().execute(async (db) => {
    await scope(db, 'partition');
    await migrate(db, migrations.slice(0, before), () => {});
    for (const tenantId of [1, 2]) {
      await scope(db, 'administer');
      const tenant = { name: `t${tenantId}`, created_ms: 0, settings_version: 0, retention_days: null };
      await db.insertInto('tenants').values(tenant).execute();
      await scope(db, tenantId);
      for (const [index, score] of [12.5, 99.9, null].entries()) {
        const place = { tenant_id: tenantId, agent_id: 'a', started_ms: index };
        await db
          .insertInto('sessions')
          .values({
            ...place,
            id: `s${index}`,
            agent_ids: '["a"]',
            last_event_ms: index,
            event_count: 1,
            error_count: 0,
            last_arrival: 1,
            tool_names: '[]',
            risk_score: score,
            risk_level: null,
            risk_arrival: 1,
            risk_learned: 1,
            received_ms: index,
          })
          .execute();
        await db
          .insertInto('session_agents')
          .values({ ...place, session_id: `s${index}` } as never)
          .execute();
      }
    }
  });
  await database.transaction().execute(async (db) => {
    await scope(db, 'partition');
    await migrate(db, migrations, () => {});
    for (const tenantId of [1, 2]) {
      await scope(db, tenantId);
      const own = db.selectFrom('session_agents').where('tenant_id', '=', tenantId);
      const acted = await own.select(['risk_score', 'risk_band']).orderBy('session_id').execute();
      expect(acted).toEqual([
        { risk_score: 12.5, risk_band: 12 },
        { risk_score: 99.9, risk_band: 99 },
        { risk_score: null, risk_band: null },
      ]);
      const usage = await db.selectFrom('usage').selectAll().where('tenant_id', '=', tenantId).execute();
      expect(usage).toMatchObject([{ kind: 'sessions', amount: 3 }]);
    }
    await scope(db, 'administer');
    expect(onPostgres ? await db.selectFrom('sessions').selectAll().execute() : []).toEqual([]);
  });
});

test.skipIf(onPostgres)('a stored condition that is not taken any more denies all the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'a.db');
  const before = await testServer({ database });
  const { id } = await before.policy({ condition: 'args.path.contains("/etc")' });
  await before.policy({ effect: 'allow', condition: 'true' });
  await before.server.close();
  const connection = new DatabaseSync(database);
  connection.exec(`update policies set definition = replace(definition, 'contains', 'matches')`);
  connection.close();
  const after = await testServer({ database });
  const check = { agentId: 'bot', action: { toolName: 'read_file', argumentsHash: 'sha256:aa' } };
  expect(await after.ok('policies.check', { body: check })).toMatchObject({
    decision: 'deny',
    decidedBy: id,
  });
});

/** A file whose tables are those of an older release. */
async function olderFile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'actlog.db');
  const dialect = sqliteDialect(new SqliteConnection({ file, writes: true }));
  const database = new Kysely<Tables>({ dialect });
  await database.transaction().execute((db) => migrate(db, sqliteMigrations.slice(0, -2), () => {}));
  await database.destroy();
  return file;
}

const upgradeOfOlderFile = sqliteMigrations
  .slice(-2)
  .map(({ name }, index) => `bringing the tables up to date: ${name} (${index + 1} of 2)`);

test.skipIf(onPostgres)('a server that starts waits for a process that has the file', async () => {
  const database = await olderFile();
  const other = new DatabaseSync(database);
  atTestEnd(async () => other.close());
  other.exec('begin immediate');
  const told: string[] = [];
  const storage = await openStorage({
    database,
    tell: (message) => {
      told.push(message);
      if (other.isTransaction) other.exec('commit');
    },
  });
  await storage.close();
  expect(told).toEqual(['waiting for another process that writes to the database', ...upgradeOfOlderFile]);
});

test.skipIf(onPostgres)('the command that brings the tables up to date tells each step, once', async () => {
  const migrateNow = [...commandLine, 'migrate', '--database', await olderFile()];
  expect((await run(process.execPath, migrateNow)).stderr.trim().split('\n')).toEqual(upgradeOfOlderFile);
  expect(await run(process.execPath, migrateNow)).toEqual({ stdout: '', stderr: '' });
});

test.skipIf(onPostgres)('a server that starts logs each step', async () => {
  const start = [...commandLine, '--port', '0', '--database', await olderFile()];
  const child = spawn(process.execPath, start, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const logged: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const { msg } = JSON.parse(line) as { msg: string };
    if (msg.startsWith('Server listening')) child.kill();
    else if (msg.startsWith('bringing')) logged.push(msg);
  }
  await ended;
  expect(logged).toEqual(upgradeOfOlderFile);
});
