import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test as onSqlite } from 'vitest';
import { startServer } from '../src/index.ts';
import { commandEnvironment, commandLine, run, runHere } from './command-line.ts';
import { onPostgres } from './test-database.ts';
import { activityEvent } from './test-server.ts';

const env = commandEnvironment();
let folder: string;
let database: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-backup-'));
  database = join(folder, 'a.db');
  if (!onPostgres) await (await startServer({ database, docs: false })).close();
});

afterAll(() => rmSync(folder, { recursive: true }));

// PostgreSQL has its own tools.
const test = onSqlite.skipIf(onPostgres);

function backUp(file: string) {
  return runHere(['backup', file, '--database', database], { cwd: folder, env });
}

test('does not migrate the database for a backup', async () => {
  const connection = new DatabaseSync(database);
  const { name } = connection.prepare('select max(name) as name from schema_migrations').get() as {
    name: string;
  };
  connection.prepare("update schema_migrations set name = '9999-future' where name = ?").run(name);
  try {
    await backUp('future.db');
    const copy = new DatabaseSync(join(folder, 'future.db'));
    const read = 'select max(name) as name from schema_migrations';
    expect(copy.prepare(read).get()).toEqual({ name: '9999-future' });
    expect(connection.prepare(read).get()).toEqual({ name: '9999-future' });
    copy.close();
  } finally {
    connection.prepare("update schema_migrations set name = ? where name = '9999-future'").run(name);
    connection.close();
  }
});

onSqlite.skipIf(onPostgres || process.platform === 'win32')(
  'a backup that is cut off does not stand under its name',
  async () => {
    const blocks = Math.floor(statSync(database).size / 1024 / 2);
    const limited = `ulimit -f ${blocks}; exec "$0" "$@"`;
    const args = [
      '-c',
      limited,
      process.execPath,
      ...commandLine,
      'backup',
      'cut.db',
      '--database',
      database,
    ];
    await expect(run('bash', args, { cwd: folder, env })).rejects.toThrow();
    expect(existsSync(join(folder, 'cut.db'))).toBe(false);
  },
);

test.each([':memory:', 'b.db'])('keeps serving on %s during a backup', async (name) => {
  const server = await startServer({
    database: name === ':memory:' ? name : join(folder, name),
    docs: false,
  });
  try {
    const { key, apiKey } = await server.admin.keys.create('default', { kind: 'test', name: 'copied' });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    // So much that no copy is done before the event loop has gone round.
    for (let number = 0; number < 20; number += 1) {
      const body = JSON.stringify(
        activityEvent({ category: 'note', payload: { text: 'x'.repeat(200_000) } }),
      );
      expect((await fetch(`${server.url}/v1/events`, { method: 'POST', headers, body })).status).toBe(202);
    }
    const copy = join(folder, `${name.replaceAll(':', '')} apart`);
    let hasGoneOn = false;
    setImmediate(() => {
      hasGoneOn = true;
    });
    await server.admin.backup(copy);
    expect(hasGoneOn).toBe(true);
    const copied = new DatabaseSync(copy);
    expect(copied.prepare('select name from api_keys where id = ?').get(key.id)).toEqual({ name: 'copied' });
    copied.close();
  } finally {
    await server.close();
  }
});

test('requires the path of a new file for a backup', async () => {
  await backUp('copy.db');
  await expect(backUp('copy.db')).rejects.toMatchObject({
    code: 1,
    stderr: 'copy.db already exists; give the path of a new file.\n',
  });
  await expect(backUp('')).rejects.toMatchObject({
    code: 1,
    stderr: 'The backup has no file name; give the path of a new file.\n',
  });
  await expect(backUp('none/copy.db')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none/copy.db cannot be written: '),
  });
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
});

test('refuses a malformed database, such as a backup beside the remains of a crash, and says what to do', async () => {
  const spoiled = join(folder, 'spoiled.db');
  // The first page of a database has a header of 100 bytes; the rest of it looks like any other page.
  writeFileSync(spoiled, readFileSync(database).fill(0xff, 100, 108));
  await expect(startServer({ database: spoiled, docs: false })).rejects.toThrow(
    `malformed; if a backup was restored beside ${spoiled}-wal and ${spoiled}-shm, remove both and restore it again`,
  );
});

test('refuses a database that is malformed after its tables, and says what to do', async () => {
  const connection = new DatabaseSync(database);
  const { at } = connection
    .prepare(
      `select (rootpage - 1) * page_size as at from pragma_page_size, sqlite_schema where name = 'tenants'`,
    )
    .get() as { at: number };
  connection.close();
  const spoiled = join(folder, 'spoiled-behind.db');
  writeFileSync(spoiled, readFileSync(database).fill(0xff, at, at + 8));
  await expect(startServer({ database: spoiled, docs: false })).rejects.toThrow(
    `malformed; if a backup was restored beside ${spoiled}-wal and ${spoiled}-shm, remove both and restore it again`,
  );
});

onSqlite.skipIf(onPostgres || process.platform === 'win32')(
  'only their owner can read the database, its log and its copies',
  async () => {
    const file = join(folder, 'private.db');
    const server = await startServer({ database: file, docs: false });
    try {
      await server.admin.backup(join(folder, 'private-copy.db'));
      for (const name of [
        'private.db',
        'private.db-wal',
        'private.db-shm',
        'private.db.secret',
        'private-copy.db',
      ]) {
        expect([name, (statSync(join(folder, name)).mode & 0o777).toString(8)]).toEqual([name, '600']);
      }
    } finally {
      await server.close();
    }
  },
);
