/**
 * The thread that writes to an SQLite database; started by `SqliteWriter`, of no use by itself.
 *
 * @packageDocumentation
 */
import { hideSqliteWarning } from './sqlite-warning.ts';

// In a program the thread that started this one has warned of it.
hideSqliteWarning();
await import('./sqlite-thread.ts');
