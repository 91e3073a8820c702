import { DatabaseSync } from 'node:sqlite';
import type { WebhookEvent } from '@actlog/client';

/** Tries before a delivery is left to a person. */
const mostAttempts = 5;

/** A delivery that waits to be acted on. */
export interface Received {
  readonly id: string;
  readonly event: WebhookEvent;
}

/**
 * Deliveries that were taken and not yet acted on, in an SQLite file: an answer of 200 ends the service's own tries,
 * so from then on nothing else remembers the delivery. Its primary key is the guard against doubled deliveries.
 */
export class Inbox {
  readonly #database: DatabaseSync;

  /** @param file - path of the SQLite file; made when it is missing */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`create table if not exists inbox (
      id text primary key, event text not null, attempts integer not null default 0, done integer not null default 0
    ) strict`);
  }

  /** Keeps a delivery; false when one of this id was kept before. */
  put({ id, event }: Received): boolean {
    const insert = this.#database.prepare('insert or ignore into inbox (id, event) values (?, ?)');
    return insert.run(id, JSON.stringify(event)).changes === 1;
  }

  /** What waits, the oldest first. */
  waiting(): Received[] {
    const select = 'select id, event from inbox where done = 0 and attempts < ? order by rowid limit 100';
    const rows = this.#database.prepare(select).all(mostAttempts);
    return rows.map(({ id, event }) => ({ id: String(id), event: JSON.parse(String(event)) }));
  }

  /** Notes how acting on a delivery ended. */
  tried(id: string, isDone: boolean): void {
    this.#database
      .prepare('update inbox set attempts = attempts + 1, done = ? where id = ?')
      .run(isDone ? 1 : 0, id);
  }

  close(): void {
    this.#database.close();
  }
}
