import { Kysely } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Tables } from './schema.ts';
import { SqliteConnection, sqliteDialect } from './sqlite/sqlite-connection.ts';
import { preparedQuery } from './transaction.ts';

function openDatabase(): Kysely<Tables> {
  const connection = new SqliteConnection({ file: ':memory:', writes: true });
  connection.execute('create table agents (tenant_id, id, status)', []);
  const agents = [
    [1, 'a', 'active'],
    [1, 'b', 'revoked'],
    [2, 'a', 'active'],
  ];
  connection.execute('insert into agents values (?, ?, ?)', agents);
  const database = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
  onTestFinished(() => database.destroy());
  return database;
}

test('compiles a query once and runs it with the values of each call', async () => {
  const db = openDatabase();
  let built = 0;
  const agents = preparedQuery((given, status: 'active' | 'revoked', tenantId: number) => {
    built += 1;
    return given
      .selectFrom('agents')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('id', '<', 'z') // a constant
      .where('status', '=', status)
      .where('tenant_id', '<=', tenantId) // a parameter used twice
      .orderBy('id');
  });
  expect(await agents(db, 'active', 1)).toEqual([{ id: 'a' }]);
  expect(await agents(db, 'revoked', 1)).toEqual([{ id: 'b' }]);
  expect(await agents(db, 'revoked', 2)).toEqual([]);
  expect(await agents(db, 'active', 2)).toEqual([{ id: 'a' }]);
  expect(built).toBe(1);
});
