import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test as onSqlite } from 'vitest';
import { startServer } from '../src/index.ts';
import { commandLine, run } from './command-line.ts';
import { onPostgres } from './test-database.ts';

const env = { PATH: process.env.PATH ?? '' };
let folder: string;
let database: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-backup-'));
  database = join(folder, 'a.db');
  if (!onPostgres) await (await startServer({ database, docs: false })).close();
});

afterAll(() => rmSync(folder, { recursive: true }));

// PostgreSQL has its own ways.
const test = onSqlite.skipIf(onPostgres);

function backUp(file: string) {
  return run(process.execPath, [...commandLine, 'backup', file, '--database', database], {
    cwd: folder,
    env,
  });
}

test('a backup leaves the tables as the release before has made them', async () => {
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

test.each([':memory:', 'b.db'])('a server on %s goes on while it is copied', async (name) => {
  const server = await startServer({
    database: name === ':memory:' ? name : join(folder, name),
    docs: false,
  });
  try {
    const { key } = await server.admin.createKey('default', { kind: 'test', name: 'copied' });
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

test('a backup needs the name of a new file, and says so', async () => {
  await backUp('copy.db');
  await expect(backUp('copy.db')).rejects.toMatchObject({
    code: 1,
    stderr: 'copy.db exists already: give the backup the path of a new file.\n',
  });
  await expect(backUp('')).rejects.toMatchObject({
    code: 1,
    stderr: 'The backup has no name: give the path of a new file.\n',
  });
  await expect(backUp('none/copy.db')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none/copy.db cannot be written: '),
  });
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db']);
});

test('a file that contradicts itself, as a backup beside what a crash left, is refused with the way out', async () => {
  const spoiled = join(folder, 'spoiled.db');
  // The first page of a database begins with 100 bytes of its own, and goes on as every other.
  writeFileSync(spoiled, readFileSync(database).fill(0xff, 100, 108));
  await expect(startServer({ database: spoiled, docs: false })).rejects.toThrow(
    `malformed; if a backup was put there beside ${spoiled}-wal and ${spoiled}-shm, remove both and put it there again`,
  );
});

test('a file that contradicts itself only behind its tables is refused with the way out too', async () => {
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
    `malformed; if a backup was put there beside ${spoiled}-wal and ${spoiled}-shm, remove both and put it there again`,
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
