import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../src/open-storage.ts';
import { storageOutage } from '../../src/storage/outage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { bulkWrite, type Database } from '../../src/storage/transaction.ts';
import { createDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';

let storage: Storage;

beforeEach(async () => {
  storage = await openStorage({ database: await createDatabase(), connections: 4 });
  atTestEnd(() => storage.close());
  await storage.write(1, ({ db }) =>
    db
      .insertInto('agent_baselines')
      .values(['a', 'b'].map((agent_id) => ({ tenant_id: 1, agent_id, baseline: '' })))
      .execute(),
  );
});

function append(db: Database, agentId: string, text: string) {
  return db
    .updateTable('agent_baselines')
    .set({ baseline: sql`baseline || ${text}` })
    .where('agent_id', '=', agentId)
    .execute();
}

test('completes two deadlocked transactions, with their effects once', async () => {
  let arrived = 0;
  let go = (): void => {};
  const bothHoldOne = new Promise<void>((resolve) => {
    go = resolve;
  });
  let effects = 0;
  const crossing = (first: string, second: string) =>
    storage.write(1, async ({ db, afterCommit }) => {
      afterCommit(() => {
        effects += 1;
      });
      await append(db, first, 'x');
      arrived += 1;
      if (arrived >= 2) go();
      await bothHoldOne;
      await append(db, second, 'x');
    });
  await Promise.all([crossing('a', 'b'), crossing('b', 'a')]);
  const rows = await storage.read(1, (db) => db.selectFrom('agent_baselines').select('baseline').execute());
  expect(rows).toEqual([{ baseline: 'xx' }, { baseline: 'xx' }]);
  expect([effects, arrived]).toEqual([2, 3]);
});

const addBaselines = bulkWrite('agent_baselines', ['tenant_id', 'agent_id', 'baseline'], (insert) => insert);

test.each([
  ['the commit', async () => {}],
  ['the next statement', (db: Database) => append(db, 'b', 'x')],
])('fails in %s with the error of a write without a result, and stores nothing', async (_, next) => {
  let errorOfNext: unknown;
  const write = storage.write(1, async ({ db }) => {
    await append(db, 'a', 'x');
    await addBaselines(db, [{ tenant_id: 1, agent_id: 'a', baseline: 'again' }]);
    await next(db).catch((error: unknown) => {
      errorOfNext = error;
      throw error;
    });
  });
  await expect(write).rejects.toMatchObject({ code: '23505' });
  if (errorOfNext) expect(errorOfNext).toMatchObject({ code: '23505' });
  const rows = await storage.read(1, (db) => db.selectFrom('agent_baselines').select('baseline').execute());
  expect(rows).toEqual([{ baseline: '' }, { baseline: '' }]);
});

test('runs a write without a result before the statements after it', async () => {
  const rows = await storage.write(1, async ({ db }) => {
    await addBaselines(db, [{ tenant_id: 1, agent_id: 'c', baseline: 'new' }]);
    return db.selectFrom('agent_baselines').select('agent_id').orderBy('agent_id').execute();
  });
  expect(rows.map((row) => row.agent_id)).toEqual(['a', 'b', 'c']);
});

test('does not count a transaction with a swallowed error as committed', async () => {
  const write = storage.write(1, async ({ db }) => {
    await append(db, 'a', 'x');
    await sql`select 1 / 0`.execute(db).catch(() => {});
  });
  await expect(write).rejects.toThrow('rolled back');
});

test('cannot write in a read, which sees one snapshot however long it takes', async () => {
  await expect(storage.read(1, (db) => append(db, 'a', 'x'))).rejects.toMatchObject({ code: '25006' });
  const seen = await storage.read(1, async (db) => {
    const query = () =>
      db.selectFrom('agent_baselines').select('baseline').where('agent_id', '=', 'a').execute();
    const before = await query();
    await storage.write(1, (write) => append(write.db, 'a', 'x'));
    return [before, await query()];
  });
  expect(seen[1]).toEqual(seen[0]);
});

test('throws for an integer beyond the safe range', async () => {
  const read = (text: string) =>
    storage.read(1, (db) => sql<{ value: number }>`select ${sql.raw(text)}::int8 as value`.execute(db));
  expect((await read('9007199254740991')).rows).toEqual([{ value: Number.MAX_SAFE_INTEGER }]);
  await expect(read('9007199254740993')).rejects.toThrow('exceeds the safe range');
});

test.each(['statement_timeout', 'transaction_timeout'])(
  'reports a timeout of the %s as an outage',
  async (limit) => {
    const slow = storage.write(1, async ({ db }) => {
      await sql`set local ${sql.raw(limit)} = 20`.execute(db);
      await sql`select pg_sleep(10)`.execute(db);
    });
    const error: unknown = await slow.catch((caught: unknown) => caught);
    expect(storageOutage(error)).toBe('The database took too long. Nothing was stored.');
    await expect(storage.probe()).resolves.toBeUndefined();
  },
);

test('does not quote the row in an error', async () => {
  const row = { tenant_id: 1, agent_id: 'a', baseline: 'a secret' };
  const taken: unknown = await storage
    .write(1, ({ db }) => db.insertInto('agent_baselines').values(row).execute())
    .catch((caught: unknown) => caught);
  expect(taken).toMatchObject({ code: '23505', constraint: 'agent_baselines_pkey' });
  expect(JSON.stringify(taken)).not.toContain('detail');
  await expect(storage.probe()).resolves.toBeUndefined();
});
