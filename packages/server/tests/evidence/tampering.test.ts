import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { actlog, type Ended } from '../../../cli/tests/command-line.ts';
import type { ServerOptions } from '../../src/index.ts';
import { openStorage } from '../../src/open-storage.ts';
import { createDatabase, onPostgres, withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { feed, logged, policyOf } from './logged-records.ts';

let folder: string;
let options: ServerOptions;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-tampering-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  options = await withTestDatabase({
    database: join(folder, 'a.db'),
    secret: 'the secret of a server whose database is changed',
  });
});

/** Changes the database as its administrator can, past the server. */
async function tamper(statement: RawBuilder<unknown>): Promise<void> {
  const storage = await openStorage({ database: options.database as string, connections: 2 });
  try {
    const { numAffectedRows } = await storage.write(1, ({ db }) => statement.execute(db));
    expect(Number(numAffectedRows)).toBeGreaterThan(0);
  } finally {
    await storage.close();
  }
}

/** Copies the database of a server that is closed, as a backup does, and returns the options of a server of the copy. */
async function copyOf(from: ServerOptions): Promise<ServerOptions> {
  if (onPostgres) {
    const name = new URL(from.database as string).pathname.slice(1);
    return { ...from, database: await createDatabase(name) };
  }
  const database = `${from.database}.copy`;
  copyFileSync(from.database as string, database);
  return { ...from, database };
}

/** Returns the verifier key of a server's log. */
async function keyOf(server: TestServer): Promise<string> {
  return (await policyOf(server)).logs[0]?.key.text ?? '';
}

async function verify({ server, apiKey }: TestServer, ...args: readonly string[]): Promise<Ended> {
  const env = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: apiKey };
  return actlog(['log', 'verify', ...args], { env, cwd: folder });
}

async function recordSome(server: TestServer, count: number): Promise<void> {
  const before = (await feed(server)).filter(({ kind }) => kind === 'event').length;
  await server.recordMany(Array.from({ length: count }, (_, index) => ({ sessionId: `s${index % 3}` })));
  await logged(server, 'event', before + count);
}

test('proves an unchanged log with all of its records, and keeps its state for the next time', async () => {
  const server = await testServer(options);
  await recordSome(server, 300);
  const key = await keyOf(server);
  const { stdout, exitCode } = await verify(server, '--key', key, '--save', 'seen');
  const { length } = await feed(server);
  expect(stdout).toContain(`Log ${key.split('+')[0]}, ${length} entries.`);
  expect(stdout).toContain(`${length} records are unchanged`);
  expect(stdout).toMatch(/Proven\.\n$/);
  expect(exitCode).toBe(0);
  await recordSome(server, 10);
  expect((await verify(server, '--key', key, '--save', 'seen')).exitCode).toBe(0);
  // The copy is a log, too.
  const copy = await actlog(['log', 'verify', 'seen', '--key', key], { cwd: folder });
  expect(copy).toMatchObject({ exitCode: 0 });
});

test('names a changed row, online and in an export', async () => {
  const server = await testServer(options);
  await recordSome(server, 5);
  const victim = (await feed(server)).filter(({ kind }) => kind === 'event')[2];
  await tamper(
    sql`update events set agent_id = 'somebody else' where tenant_id = 1 and event_id = ${victim?.id}`,
  );
  const key = await keyOf(server);
  const { stdout, exitCode } = await verify(server, '--key', key);
  expect(exitCode).toBe(1);
  expect(stdout).toContain(
    `record-changed: The event "${victim?.id}" is not what was logged as entry ${victim?.index}`,
  );
  const env = { ACTLOG_BASE_URL: server.server.url, ACTLOG_API_KEY: server.apiKey };
  const exported = await actlog(['feed', '--receipts'], { env });
  writeFileSync(join(folder, 'export.jsonl'), exported.stdout);
  const offline = await actlog(['log', 'verify', 'export.jsonl', '--key', key], { cwd: folder });
  expect(offline.exitCode).toBe(1);
  expect(offline.stdout).toContain(`The event "${victim?.id}"`);
});

test('names a deleted row', async () => {
  const server = await testServer(options);
  await recordSome(server, 5);
  const victim = (await feed(server)).filter(({ kind }) => kind === 'event')[3];
  await tamper(sql`delete from events where tenant_id = 1 and event_id = ${victim?.id}`);
  const { stdout, exitCode } = await verify(server, '--key', await keyOf(server));
  expect(exitCode).toBe(1);
  expect(stdout).toContain(
    `record-missing: Entry ${victim?.index} is in the log without a record, and no deletion was logged.`,
  );
});

test('names a changed decision of a policy', async () => {
  const server = await testServer(options);
  await server.policy({ effect: 'deny' });
  await server.check({});
  const decision = (await logged(server, 'decision', 1)).find(({ kind }) => kind === 'decision');
  await tamper(
    sql`update policy_decisions set decision = 'allow' where tenant_id = 1 and id = ${decision?.id}`,
  );
  const { stdout, exitCode } = await verify(server, '--key', await keyOf(server));
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`record-changed: The decision "${decision?.id}"`);
});

test('names changed entries, although rows and salts fit them', async () => {
  const server = await testServer(options);
  await recordSome(server, 5);
  await tamper(sql`delete from log_tiles where tenant_id = 1 and level = 0`);
  const { stdout, exitCode } = await verify(server, '--key', await keyOf(server));
  expect(exitCode).toBe(1);
  expect(stdout).toContain('tile-missing: tile/0/000.p/');
});

test('finds a restored old backup by what was seen before', async () => {
  const first = await testServer(options);
  await recordSome(first, 5);
  await first.server.close();
  const backup = await copyOf(options);
  const second = await testServer(options);
  await recordSome(second, 5);
  const key = await keyOf(second);
  expect((await verify(second, '--key', key, '--save', 'seen')).exitCode).toBe(0);
  const { length: size } = await feed(second);
  await second.server.close();

  const restored = await testServer(backup);
  const { stdout, exitCode } = await verify(restored, '--key', key, '--save', 'seen');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(new RegExp(`rolled-back: The log has \\d+ entries, but had signed ${size} before`));

  // Once it has grown again, it has another history, whose first entry is named.
  const length = (await feed(restored)).length;
  await recordSome(restored, 20);
  const later = await verify(restored, '--key', key, '--save', 'seen');
  expect(later.exitCode).toBe(1);
  expect(later.stdout).toMatch(
    new RegExp(
      `rewritten: The log does not begin with the ${size} entries .* The first entry that differs is ${length}\\.`,
    ),
  );
  // What was seen is kept.
  expect(readFileSync(join(folder, 'seen/checkpoint'), 'utf8').split('\n')[1]).toBe(String(size));
});

test('finds two histories of one size', async () => {
  const first = await testServer(options);
  await recordSome(first, 2);
  await first.server.close();
  const other = await copyOf(options);
  const [left, right] = [await testServer(options), await testServer(other)];
  await recordSome(left, 4);
  await recordSome(right, 4);
  const sizes = [(await feed(left)).length, (await feed(right)).length];
  expect(sizes[0]).toBe(sizes[1]);
  const key = await keyOf(left);
  expect((await verify(left, '--key', key, '--save', 'seen')).exitCode).toBe(0);
  const { stdout, exitCode } = await verify(right, '--key', key, '--earlier', 'seen');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/two-histories: .* has signed two different trees of \d+ entries/);
});

test('proves the deletion of a session, of which only hashes are left', async () => {
  const server = await testServer(options);
  await recordSome(server, 30);
  const before = await feed(server);
  const key = await keyOf(server);
  expect((await verify(server, '--key', key, '--save', 'seen')).exitCode).toBe(0);
  await server.record({ sessionId: 's1' });
  await server.server.admin.sessions.delete('default', 's1', { erasure: 'Request 1' });
  const deletion = (await logged(server, 'deletion', 1)).find(({ kind }) => kind === 'deletion');
  expect(deletion?.row).toMatchObject({ by: 'operator', kind: 'event' });
  const gone = before.filter(({ row }) => (row as { sessionId?: string }).sessionId === 's1');
  expect(gone).toHaveLength(10);
  const after = await feed(server);
  expect(after.filter(({ id }) => gone.some((record) => record.id === id))).toEqual([]);
  const { stdout, exitCode } = await verify(server, '--key', key, '--save', 'seen');
  expect(stdout).toContain('11 records were deleted, as the log says.');
  expect(exitCode).toBe(0);
  await server.server.close();
  // Neither rows nor salts are left.
  const storage = await openStorage({ database: options.database as string, connections: 2 });
  const left = await storage
    .read(1, (db) => db.selectFrom('log_ranges').selectAll().where('id', '=', 's1').execute())
    .finally(() => storage.close());
  expect(left).toEqual([]);
});

test('reports usage errors', async () => {
  const server = await testServer(options);
  expect(await verify(server)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--key') });
  expect(await verify(server, 'no-such-file', '--key', await keyOf(server))).toMatchObject({ exitCode: 2 });
  expect(await verify(server, '--key', 'nonsense')).toMatchObject({ exitCode: 2 });
  const gone = await verify(server, 'http://127.0.0.1:9/log/default', '--key', await keyOf(server));
  expect(gone).toMatchObject({ exitCode: 3 });
  expect(existsSync(join(folder, 'seen'))).toBe(false);
});
