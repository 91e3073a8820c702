import { DatabaseSync } from 'node:sqlite';
import { eventIds, type IdVersion } from './bodies.ts';

const eventsPerCommit = 64;

const payload = JSON.stringify({
  toolName: 'search',
  argumentsHash: `sha256:${'9f'.repeat(32)}`,
  responseStatus: 200,
});

/**
 * Inserts of events and upserts of their sessions directly in SQLite: prepared statements, 64 events per durable
 * commit.
 */
export class BareInsert {
  readonly #database: DatabaseSync;
  readonly #insertUpTo: (to: number) => void;
  #events = 0;

  constructor(file: string, version: IdVersion) {
    const newId = eventIds(version);
    const database = new DatabaseSync(file);
    this.#database = database;
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    database.exec(
      'create table event (session text, at integer, id text unique, agent text, category text, payload text); create index by_session on event (session, at, id)',
    );
    database.exec('create table session (id text primary key, last integer, events integer) without rowid');
    const insert = database.prepare('insert into event values (?, ?, ?, ?, ?, ?)');
    const upsert = database.prepare(
      'insert into session values (?, ?, 1) on conflict (id) do update set last = excluded.last, events = events + 1',
    );
    this.#insertUpTo = (to) => {
      for (let start = this.#events; start < to; start += eventsPerCommit) {
        database.exec('begin immediate');
        for (let index = start; index < start + eventsPerCommit; index += 1) {
          const session = `bench-session-${index % 50}`;
          insert.run(session, index, newId(), 'agent', 'tool_api', payload);
          upsert.run(session, index);
        }
        database.exec('commit');
        this.#events = start + eventsPerCommit;
      }
    };
  }

  /** Inserts at least this many events; returns microseconds of processor time per event. */
  insert(count: number): number {
    const from = this.#events;
    const before = process.cpuUsage();
    this.#insertUpTo(from + count);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (this.#events - from);
  }

  close(): void {
    this.#database.close();
  }
}
