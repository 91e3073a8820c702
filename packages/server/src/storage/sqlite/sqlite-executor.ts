/** Result of a statement. */
export interface ExecuteResult {
  readonly rows: unknown[];
  /** Number of rows written. */
  readonly changes: number;
}

/**
 * Executor of statements on one SQLite connection, in this thread or another. With a list of lists as parameters it
 * runs the statement once per list, which is faster in SQLite than one statement with many rows.
 */
export interface SqliteExecutor {
  execute(sql: string, parameters: readonly unknown[]): ExecuteResult | Promise<ExecuteResult>;
  close(): void | Promise<void>;
}
