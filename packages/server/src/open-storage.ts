import { existsSync } from 'node:fs';
import { Recording, type RecordingOptions, SharedRecording } from './ingest/recording.ts';
import type { WriterData } from './ingest/sqlite-thread.ts';
import { isPostgresUrl } from './storage/database-address.ts';
import type { Progress } from './storage/migrate.ts';
import { PostgresStorage } from './storage/postgres/postgres-storage.ts';
import { SqliteStorage } from './storage/sqlite/sqlite-storage.ts';
import type { Storage } from './storage/storage.ts';

/** Options for opening a database. */
export interface OpenStorageOptions extends RecordingOptions {
  /** Path of an SQLite file, `:memory:`, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Bytes that an SQLite file may grow to; unbounded when left out. */
  readonly maxBytes?: number | undefined;
  /** Maximum connections of this process to PostgreSQL. Default: 10. */
  readonly connections?: number | undefined;
  /** Called with each slow step of the opening, such as a migration of a large database. */
  readonly onProgress?: Progress | undefined;
}

/** Opens a database and applies missing migrations. @throws Error with the reason when that fails. */
export function openStorage({
  database,
  maxBytes,
  connections = 10,
  quotas,
  isIndexed,
  onProgress,
}: OpenStorageOptions): Promise<Storage> {
  const recording = { quotas, isIndexed };
  if (isPostgresUrl(database)) {
    const createRecording = (storage: Storage) => new SharedRecording(storage, recording);
    return PostgresStorage.open({ url: database, connections, createRecording, onProgress });
  }
  return SqliteStorage.open({
    file: database,
    maxBytes,
    createRecording: (db) => new Recording(db, recording),
    writerThread: (connection) => {
      const data: WriterData = { ...connection, recording };
      return { file: threadFile(import.meta.url), data };
    },
    onProgress,
  });
}

/**
 * Returns the file of the writer thread, which is beside the file at `address` both as source and as built.
 *
 * @param address - URL of a file of the root folder; in a bundle another one or none
 * @throws Error if there is no such file
 */
export function threadFile(address: string | undefined): URL {
  const file = URL.parse(`./sqlite-worker.${address?.endsWith('.ts') ? 'ts' : 'js'}`, address);
  if (file && existsSync(file)) return file;
  throw new Error(
    'The thread that writes to a database file needs a separate file, which a bundle does not contain: leave @actlog/server out of the bundle, for example with --external:@actlog/server.',
  );
}
