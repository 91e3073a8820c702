import { DatabaseSync } from 'node:sqlite';
import type { WebhookEvent } from '@actlog/client';

/** Maximum number of attempts to process a delivery. */
const mostAttempts = 5;

/** A delivery that waits for processing. */
export interface Received {
  readonly id: string;
  readonly event: WebhookEvent;
}

/**
 * Received deliveries that are not yet processed, in an SQLite file. A response of 200 ends the service's retries, so this
 * is then the only copy. The primary key rejects repeated deliveries.
 */
export class Inbox {
  readonly #database: DatabaseSync;

  /** @param file - path of the SQLite file, created if it is missing */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`create table if not exists inbox (
      id text primary key, event text not null, attempts integer not null default 0, done integer not null default 0
    ) strict`);
  }

  /** Stores a delivery; returns false for a known id. */
  put({ id, event }: Received): boolean {
    const insert = this.#database.prepare('insert or ignore into inbox (id, event) values (?, ?)');
    return insert.run(id, JSON.stringify(event)).changes === 1;
  }

  /** Returns the unprocessed deliveries, oldest first. */
  waiting(): Received[] {
    const select = 'select id, event from inbox where done = 0 and attempts < ? order by rowid limit 100';
    const rows = this.#database.prepare(select).all(mostAttempts);
    return rows.map(({ id, event }) => ({ id: String(id), event: JSON.parse(String(event)) }));
  }

  /** Stores the outcome of an attempt. */
  tried(id: string, isDone: boolean): void {
    this.#database
      .prepare('update inbox set attempts = attempts + 1, done = ? where id = ?')
      .run(isDone ? 1 : 0, id);
  }

  close(): void {
    this.#database.close();
  }
}
