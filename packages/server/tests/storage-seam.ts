import { vi } from 'vitest';
import { PostgresStorage } from '../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../src/storage/sqlite-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import type { Database, Write } from '../src/storage/transaction.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';

/** What all storages of this run's kind do. */
const storage: Storage = (onPostgres ? PostgresStorage : SqliteStorage).prototype;

/** Does `work` between what the next read has found and whoever asked for it. */
export function afterNextRead(work: () => Promise<unknown>): void {
  const { read } = storage;
  const spy = vi.spyOn(storage, 'read');
  atTestEnd(async () => spy.mockRestore());
  spy.mockImplementationOnce(async function (
    this: Storage,
    tenantId: number,
    look: (db: Database) => Promise<unknown>,
  ) {
    const found = await read.call(this, tenantId, look);
    await work();
    return found;
  });
}

type Change = (write: Write) => Promise<unknown>;

/** Has the next write do something else with what it is to change; `run` is how it would have gone. */
function aroundNextWrite(
  around: (run: (change: Change) => Promise<unknown>, change: Change) => Promise<unknown>,
): void {
  const { write } = storage;
  const spy = vi.spyOn(storage, 'write');
  atTestEnd(async () => spy.mockRestore());
  spy.mockImplementationOnce(function (this: Storage, tenantId: number, change: Change) {
    return around((changed) => write.call(this, tenantId, changed), change);
  });
}

/** Does `work` between the next call for a write and the beginning of its transaction. */
export function beforeNextWrite(work: () => void): void {
  aroundNextWrite((run, change) => {
    work();
    return run(change);
  });
}

/** Does `work` between what the next write has done and its commit. */
export function beforeNextCommit(work: () => Promise<unknown>): void {
  aroundNextWrite((run, change) =>
    run(async (write) => {
      const result = await change(write);
      await work();
      return result;
    }),
  );
}

/** Resolves when a write is asked for. */
export function nextWrite(): Promise<void> {
  return new Promise((resolve) => beforeNextWrite(resolve));
}

/** The storages that are watched from now on, each as often as someone watches it. */
export function watchedStorages(): readonly Storage[] {
  const { watch } = storage;
  const watched: Storage[] = [];
  const spy = vi.spyOn(storage, 'watch').mockImplementation(function (this: Storage, onChange) {
    const end = watch.call(this, onChange);
    watched.push(this);
    return () => {
      watched.splice(watched.indexOf(this), 1);
      end();
    };
  });
  atTestEnd(async () => spy.mockRestore());
  return watched;
}
