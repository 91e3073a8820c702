import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect } from 'kysely';
import { expect, test } from 'vitest';
import { openStorage } from '../src/open-storage.ts';
import { migrate } from '../src/storage/migrate.ts';
import { postgresMigrations } from '../src/storage/migrations/postgres.ts';
import { sqliteMigrations } from '../src/storage/migrations/sqlite.ts';
import { PostgresPool } from '../src/storage/postgres/pool.ts';
import { enterScope } from '../src/storage/postgres/scope.ts';
import type { Tables } from '../src/storage/schema.ts';
import { SqliteConnection } from '../src/storage/sqlite/sqlite-connection.ts';
import { sqliteDialect } from '../src/storage/sqlite/sqlite-dialect.ts';
import { eventPage, findEvents, insertEvents } from '../src/storage/stores/event-log.ts';
import { eventRow } from '../src/storage/stores/event-row.ts';
import type { Database } from '../src/storage/transaction.ts';
import { commandLine, run } from './command-line.ts';
import { createDatabase, onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, testServer } from './test-server.ts';

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

/** Inserts two agents, and two actions of which one is pending. */
async function insertOldRows(db: Database, tenantId: number): Promise<void> {
  const times = { created_ms: 0, updated_ms: 0, last_seen_ms: null };
  const none = { name: null, description: null, framework: null, version: null, owner: null };
  for (const [id, metadata] of [
    ['a', '{"not":"é"}'],
    ['b', '{}'],
  ] as const) {
    const state = { metadata, status: 'active', registered: 0 } as const;
    await db
      .insertInto('agents')
      .values({ tenant_id: tenantId, id, ...none, ...state, ...times })
      .execute();
  }
  for (const [id, status] of [
    ['p1', 'pending'],
    ['p2', 'denied'],
  ] as const) {
    const decision = { comment: null, decided_by: null, decided_ms: null };
    const held = { agent_id: 'a', session_id: null, policy_id: 'p', action_digest: '', reason: '' };
    const ends = { created_ms: 0, expires_ms: 1, on_timeout: 'deny' } as const;
    await db
      .insertInto('pending_actions')
      .values({ tenant_id: tenantId, id, status, action: '{"a":"bcé"}', ...held, ...ends, ...decision })
      .execute();
  }
}

/** Inserts an event with the decision about an action of a session. */
async function insertDecision(
  db: Database,
  tenantId: number,
  sessionId: string,
  decision: string,
): Promise<void> {
  await db
    .insertInto('events')
    .values({
      tenant_id: tenantId,
      session_id: sessionId,
      source_ms: 0,
      event_id: `${sessionId}-${decision}`,
      arrival: 1,
      agent_id: 'a',
      source_timestamp: '2026-11-01T00:00:00Z',
      category: 'guardian_decision',
      schema_version: '1.0',
      payload: JSON.stringify({ toolName: 'pay', argumentsHash: 'sha256:aa', decision, policyId: 'p' }),
      received_ms: 0,
      stamp: 0,
    })
    .execute();
}

test('counts existing data and finds it by its risk, tools and decisions after an upgrade', async () => {
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
            error_count: index,
            last_arrival: 1,
            tool_names: index === 1 ? '["pay","search","pay"]' : '[]',
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
      await insertOldRows(db, tenantId);
      await insertDecision(db, tenantId, 's0', 'denied');
      await insertDecision(db, tenantId, 's2', 'require_approval');
      await insertDecision(db, tenantId, 's1', 'approved');
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
      const flags = await db
        .selectFrom('sessions')
        .select(['id', 'has_errors', 'has_denials', 'has_holds', 'risk_rank'])
        .where('tenant_id', '=', tenantId)
        .orderBy('id')
        .execute();
      expect(flags).toEqual([
        { id: 's0', has_errors: 0, has_denials: 1, has_holds: 0, risk_rank: 12.5 },
        { id: 's1', has_errors: 1, has_denials: 0, has_holds: 0, risk_rank: 99.9 },
        { id: 's2', has_errors: 1, has_denials: 0, has_holds: 1, risk_rank: -1 },
      ]);
      const tools = await db
        .selectFrom('session_tools')
        .select(['session_id', 'tool_name', 'started_ms'])
        .where('tenant_id', '=', tenantId)
        .orderBy('tool_name')
        .execute();
      expect(tools).toEqual([
        { session_id: 's1', tool_name: 'pay', started_ms: 1 },
        { session_id: 's1', tool_name: 'search', started_ms: 1 },
      ]);
      const usage = await db
        .selectFrom('usage')
        .select(['kind', 'amount'])
        .where('tenant_id', '=', tenantId)
        .orderBy('kind')
        .execute();
      expect(usage).toEqual([
        { kind: 'agents', amount: 2 },
        { kind: 'heldActionBytes', amount: 24 },
        { kind: 'heldActions', amount: 1 },
        { kind: 'metadataBytes', amount: 12 },
        { kind: 'sessions', amount: 3 },
      ]);
    }
    await scope(db, 'administer');
    expect(onPostgres ? await db.selectFrom('sessions').selectAll().execute() : []).toEqual([]);
  });
});

test('finds existing event ids in either spelling after an upgrade, and loses none', async () => {
  const migrations = onPostgres ? postgresMigrations : sqliteMigrations;
  const before = migrations.findIndex(({ name }) => name.endsWith('lower-case-event-ids'));
  const database = await emptyDatabase();
  const [plain, twice] = ['a0b1c2d3-e4f5-4a6b-8c7d-000000000001', 'a0b1c2d3-e4f5-4a6b-8c7d-000000000002'];
  await database.transaction().execute(async (db) => {
    await scope(db, 'partition');
    await migrate(db, migrations.slice(0, before), () => {});
    await scope(db, 'administer');
    await db
      .insertInto('tenants')
      .values({ name: 't', created_ms: 0, settings_version: 0, retention_days: null })
      .execute();
    await scope(db, 1);
    const rows = [plain.toUpperCase(), twice, twice.toUpperCase()].map((eventId, index) =>
      eventRow(activityEvent({ eventId }), {
        tenantId: 1,
        sourceMs: index,
        arrival: index + 1,
        receivedMs: index,
        stamp: 0,
      }),
    );
    expect(await insertEvents(db, rows)).toBe(3);
  });
  await database.transaction().execute(async (db) => {
    await scope(db, 'partition');
    await migrate(db, migrations, () => {});
    await scope(db, 1);
    const stored = await eventPage(db, { tenantId: 1, sessionId: 'thread-1', limit: 10 });
    expect(stored.rows.map((row) => row.event_id)).toEqual([plain, twice, twice.toUpperCase()]);
    expect([...(await findEvents(db, 1, [plain])).keys()]).toEqual([plain]);
  });
});

test.skipIf(onPostgres)('denies by a stored condition that is no longer valid', async () => {
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

test.skipIf(onPostgres)('evaluates a stored condition that costs more than a new one may', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'a.db');
  const before = await testServer({ database });
  const { id } = await before.policy({ condition: 'args.words.exists(word, word.contains(args.text))' });
  await before.server.close();
  const connection = new DatabaseSync(database);
  connection.exec(
    `update policies set definition = replace(definition, 'word.contains(args.text)', 'args.text.contains(word)')`,
  );
  connection.close();
  const after = await testServer({ database });
  const decision = async (text: string) => {
    const shown = { words: ['drop', 'delete'], text };
    const action = { toolName: 'query', argumentsHash: 'sha256:aa', arguments: shown };
    return (await after.ok('policies.check', { body: { agentId: 'bot', action } })).decision;
  };
  expect(await decision('please drop it')).toBe('deny');
  expect(await decision('please keep it')).toBe('allow');
  await after.ok('policies.update', { id, body: { name: 'renamed' } });
  const { condition } = await after.ok('policies.get', { id });
  const again = await after.refused('policies.create', {
    body: { name: 'new', effect: 'deny', condition },
  });
  expect(again).toMatchObject({ status: 400, details: [{ path: 'condition', code: 'invalid_condition' }] });
});

/** Creates a file with the tables of an older release. */
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
  .map(({ name }, index) => `applying migration ${name} (${index + 1} of 2)`);

test.skipIf(onPostgres)('waits at start for another process that writes the file', async () => {
  const database = await olderFile();
  const other = new DatabaseSync(database);
  atTestEnd(async () => other.close());
  other.exec('begin immediate');
  const messages: string[] = [];
  const storage = await openStorage({
    database,
    onProgress: (message) => {
      messages.push(message);
      if (other.isTransaction) other.exec('commit');
    },
  });
  await storage.close();
  expect(messages).toEqual([
    'waiting for another process that writes to the database',
    ...upgradeOfOlderFile,
  ]);
});

test.skipIf(onPostgres)('reports each migration once by command', async () => {
  const migrateNow = [...commandLine, 'migrate', '--database', await olderFile()];
  expect((await run(process.execPath, migrateNow)).stderr.trim().split('\n')).toEqual(upgradeOfOlderFile);
  expect(await run(process.execPath, migrateNow)).toEqual({ stdout: '', stderr: '' });
});

test.skipIf(onPostgres)('logs each migration at start', async () => {
  const start = [...commandLine, '--port', '0', '--database', await olderFile()];
  const child = spawn(process.execPath, start, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const logged: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const { msg } = JSON.parse(line) as { msg: string };
    if (msg.startsWith('Server listening')) child.kill();
    else if (msg.startsWith('applying')) logged.push(msg);
  }
  await ended;
  expect(logged).toEqual(upgradeOfOlderFile);
});
