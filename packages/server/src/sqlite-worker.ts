/**
 * Entry point of the thread that writes to an SQLite database. Started by `SqliteWriter`.
 *
 * @packageDocumentation
 */
import { hideSqliteWarning } from './sqlite-warning.ts';

// The main thread has already shown the warning.
hideSqliteWarning();
await import('./ingest/sqlite-thread.ts');
