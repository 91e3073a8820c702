/** What a statement gave. */
export interface ExecuteResult {
  readonly rows: unknown[];
  /** Rows that were written. */
  readonly changes: number;
}

/**
 * Runs statements on one SQLite connection, in this thread or in another. A list of lists as parameters runs the
 * statement once for each list, which is faster in SQLite than one statement with many rows.
 */
export interface SqliteExecutor {
  execute(sql: string, parameters: readonly unknown[]): ExecuteResult | Promise<ExecuteResult>;
  close(): void | Promise<void>;
}
