import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SqliteConnection } from './sqlite-connection.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-connection-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function connect(writes: boolean): SqliteConnection {
  return new SqliteConnection({ file: join(folder, 'data.db'), writes });
}

it('returns rows as objects with the values of SQLite', () => {
  const connection = connect(true);
  connection.execute('create table things (id integer, name text, share real, bytes blob)', []);
  const insert = 'insert into things values (?, ?, ?, ?) returning id, name as "called"';
  expect(connection.execute(insert, [1, 'ü', 0.5, new Uint8Array([7])]).rows).toEqual([
    { id: 1, called: 'ü' },
  ]);
  expect(connection.execute('select * from things', []).rows).toEqual([
    { id: 1, name: 'ü', share: 0.5, bytes: new Uint8Array([7]) },
  ]);
  expect(connection.execute('select * from things where id = ?', [2]).rows).toEqual([]);
  connection.close();
});

it('returns current column names after another connection has recreated the table', () => {
  const [reader, writer] = [connect(false), connect(true)];
  writer.execute('create table things (id, name)', []);
  writer.execute('insert into things values (?, ?)', [1, 'one']);
  const all = () => reader.execute('select * from things', []).rows;
  expect(all()).toEqual([{ id: 1, name: 'one' }]);
  writer.execute('alter table things rename to former', []);
  writer.execute('create table things as select name, id, 2 as size from former', []);
  expect(all()).toEqual([{ name: 'one', id: 1, size: 2 }]);
  reader.close();
  writer.close();
});
