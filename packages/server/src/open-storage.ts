import { Recording } from './ingest/recording.ts';
import { SharedRecording } from './ingest/shared-recording.ts';
import type { WriterData } from './ingest/sqlite-thread.ts';
import { isPostgresUrl } from './storage/database-address.ts';
import { PostgresStorage } from './storage/postgres/postgres-storage.ts';
import type { Progress } from './storage/progress.ts';
import { SqliteStorage } from './storage/sqlite/sqlite-storage.ts';
import type { Storage } from './storage/storage.ts';
import type { DeploymentQuotas } from './storage/stores/quota-store.ts';
import { threadFile } from './thread-file.ts';

/** Options for opening a database. */
export interface OpenStorageOptions {
  /** Path of an SQLite file, `:memory:`, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Bytes that an SQLite file may grow to; unbounded when left out. */
  readonly maxBytes?: number | undefined;
  /** Maximum connections of this process to PostgreSQL. Default: 10. */
  readonly connections?: number | undefined;
  /** `true` to fail when the partitions of PostgreSQL cannot be created. */
  readonly needsPartitions?: boolean | undefined;
  /** Quotas of the deployment, for tenants without quotas of their own. */
  readonly quotas?: DeploymentQuotas | undefined;
  /** Called with each slow step of the opening, such as a migration of a large database. */
  readonly onProgress?: Progress | undefined;
}

/** Opens a database and applies missing migrations. @throws Error with the reason when that fails. */
export function openStorage({
  database,
  maxBytes,
  connections = 10,
  needsPartitions,
  quotas = {},
  onProgress,
}: OpenStorageOptions): Promise<Storage> {
  if (isPostgresUrl(database)) {
    const createRecording = (storage: Storage) => new SharedRecording(storage, quotas);
    return PostgresStorage.open({ url: database, connections, needsPartitions, createRecording, onProgress });
  }
  return SqliteStorage.open({
    file: database,
    maxBytes,
    createRecording: (db) => new Recording(db, quotas),
    writerThread: (connection) => {
      const data: WriterData = { ...connection, quotas };
      return { file: threadFile(import.meta.url), data };
    },
    onProgress,
  });
}
