import { expect, test } from 'vitest';
import { isPostgresUrl, isUnsupportedAddress, redactedDatabase } from './database-address.ts';

test.each([
  ['postgres://a@b/c', true],
  ['postgresql://a@b/c', true],
  ['POSTGRES://a@b/c', true],
  ['postgres.db', false],
  ['./postgres:/x', false],
  [':memory:', false],
])('isPostgresUrl(%s) is %s', (database, expected) => {
  expect(isPostgresUrl(database)).toBe(expected);
});

test.each([
  ['postgres://user:pass@db.internal:5433/actlog?password=pass', 'postgres://db.internal:5433/actlog'],
  ['postgres://user:pa ss@[db/actlog', 'PostgreSQL'],
  ['/var/lib/actlog.db', '/var/lib/actlog.db'],
])('redactedDatabase(%s) is %s', (database, shown) => {
  expect(redactedDatabase(database)).toBe(shown);
});

test.each([
  ['mysql://db/actlog', true],
  ['file:actlog.db', true],
  ['postgres://a@b/c', false],
  ['C:\\actlog\\files.db', false],
  ['file.db', false],
])('isUnsupportedAddress(%s) is %s', (database, expected) => {
  expect(isUnsupportedAddress(database)).toBe(expected);
});
