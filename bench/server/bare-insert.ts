import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

const events = 40_000;
const eventsPerCommit = 64;

/**
 * Microseconds of processor time that one event and the upsert of its session cost when nothing stands between
 * them and SQLite: prepared statements, 64 events a durable commit, into a table that already holds `eventsBefore`.
 */
export function bareInsertMicros(file: string, eventsBefore: number): number {
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  database.exec(
    'create table event (session text, at integer, id text, agent text, category text, payload text, primary key (session, at, id)) without rowid; create unique index by_id on event (id)',
  );
  database.exec('create table session (id text primary key, last integer, events integer) without rowid');
  const insert = database.prepare('insert into event values (?, ?, ?, ?, ?, ?)');
  const upsert = database.prepare(
    'insert into session values (?, ?, 1) on conflict (id) do update set last = excluded.last, events = events + 1',
  );
  const payload = JSON.stringify({
    toolName: 'search',
    argumentsHash: `sha256:${'9f'.repeat(32)}`,
    responseStatus: 200,
  });
  const insertUpTo = (from: number, to: number): void => {
    for (let start = from; start < to; start += eventsPerCommit) {
      database.exec('begin immediate');
      for (let index = start; index < start + eventsPerCommit; index += 1) {
        const session = `bench-session-${index % 50}`;
        insert.run(session, index, randomUUID(), 'agent', 'tool_api', payload);
        upsert.run(session, index);
      }
      database.exec('commit');
    }
  };
  insertUpTo(0, eventsBefore);
  const before = process.cpuUsage();
  insertUpTo(eventsBefore, eventsBefore + events);
  const { user, system } = process.cpuUsage(before);
  database.close();
  return (user + system) / events;
}
