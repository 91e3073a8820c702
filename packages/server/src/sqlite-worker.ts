/**
 * Entry point of the thread that writes to an SQLite database. Started by `SqliteWriter`.
 *
 * @packageDocumentation
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { hideSqliteWarning } from './sqlite-warning.ts';

// The main thread has already shown the warning.
hideSqliteWarning();
const { serveWriter } = await import('./ingest/sqlite-thread.ts');
serveWriter(parentPort as MessagePort, workerData);
