import { isPostgresUrl } from './database-address.ts';
import { PostgresStorage } from './postgres/postgres-storage.ts';
import type { Progress } from './progress.ts';
import { SqliteStorage } from './sqlite-storage.ts';
import type { Storage } from './storage.ts';

/** Which database, and how it is used. */
export interface OpenStorageOptions {
  /** Path of an SQLite file, `:memory:`, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Bytes that an SQLite file may grow to; unbounded when left out. */
  readonly maxBytes?: number | undefined;
  /** Connections that this process keeps to PostgreSQL at most; 10 when left out. */
  readonly connections?: number | undefined;
  /** Whether to fail when the partitions of PostgreSQL cannot be made ready. */
  readonly needsPartitions?: boolean | undefined;
  /** Is told what of the opening takes long, such as bringing the tables of a large database up to date. */
  readonly tell?: Progress | undefined;
}

/** Opens a database and brings its tables up to date. @throws Error when that cannot be done, which says why. */
export function openStorage({
  database,
  maxBytes,
  connections = 10,
  needsPartitions,
  tell,
}: OpenStorageOptions): Promise<Storage> {
  return isPostgresUrl(database)
    ? PostgresStorage.open({ url: database, connections, needsPartitions, tell })
    : SqliteStorage.open({ file: database, maxBytes, tell });
}
