import { vi } from 'vitest';
import { TenantTurns } from '../src/lib/tenant-turns.ts';
import { PostgresStorage } from '../src/storage/postgres/postgres-storage.ts';
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import type { Database, Write } from '../src/storage/transaction.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';

/** Prototype of all storages of this run's kind. */
const storage: Storage = (onPostgres ? PostgresStorage : SqliteStorage).prototype;

const { read } = storage;

/** Modules that read on their own account, at a time that no request determines. */
const backgroundReaders = /\/src\/(risk\/risk-scoring|ingest\/recording|webhooks\/sender)\.ts/;

/** Runs `work` between the next read of a request and the continuation of its caller. */
export function afterNextRead(work: () => Promise<unknown>): void {
  const spy = vi.spyOn(storage, 'read');
  atTestEnd(async () => spy.mockRestore());
  let isDone = false;
  spy.mockImplementation(async function (
    this: Storage,
    tenantId: number,
    query: (db: Database) => Promise<unknown>,
  ) {
    const isNext = !isDone && !backgroundReaders.test(new Error('for its stack').stack ?? '');
    if (isNext) isDone = true;
    const found = await read.call(this, tenantId, query);
    if (isNext) await work();
    return found;
  });
}

type Change = (write: Write) => Promise<unknown>;

/** Replaces the work of the next write; `run` runs the transaction. */
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

/** Runs `work` between the next request for a write and the start of its transaction. */
export function beforeNextWrite(work: () => void): void {
  aroundNextWrite((run, change) => {
    work();
    return run(change);
  });
}

/** Runs `work` between the changes of the next write and its commit. */
export function beforeNextCommit(work: () => Promise<unknown>): void {
  aroundNextWrite((run, change) =>
    run(async (write) => {
      const result = await change(write);
      await work();
      return result;
    }),
  );
}

/** Resolves when a transaction that writes is requested. */
export function nextWrite(): Promise<void> {
  return new Promise((resolve) => beforeNextWrite(resolve));
}

/** Resolves when work of a tenant is queued behind work that started after this call. */
export function nextQueuedWork(): Promise<void> {
  const turns = TenantTurns.prototype;
  const { run } = turns;
  const busy = new Map<TenantTurns, number>();
  return new Promise((resolve) => {
    const spy = vi.spyOn(turns, 'run').mockImplementation(async function (this: TenantTurns, ...args) {
      const running = busy.get(this) ?? 0;
      if (running > 0) resolve();
      busy.set(this, running + 1);
      try {
        return await run.apply(this, args);
      } finally {
        busy.set(this, (busy.get(this) ?? 1) - 1);
      }
    });
    atTestEnd(async () => spy.mockRestore());
  });
}

/** Returns the storages that are watched from now on, once per watcher. */
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
