import { DatabaseSync } from 'node:sqlite';
import { searchKey } from '../../packages/server/src/storage/stores/event-log.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';

/** The session that holds a tenth of all events. */
export const largeSession = 'large';

/** Number of sessions that score 99, the same at every size. They are the oldest, so lists by time have them last. */
const riskySessions = 30;

/** Amount of seed data in a database. */
export interface SeedSize {
  readonly events: number;
  readonly sessions: number;
}

/**
 * Fills a new database as a server would: a real server creates the tables and one session, whose risk is copied to all
 * others. SQL inserts the rest, because ten million requests would take an hour.
 */
export async function seed(file: string, size: SeedSize): Promise<void> {
  const server = await ChildServer.start('actlog', file);
  const nextBody = eventBodies(1);
  for (let index = 0; index < 200; index += 1) {
    await fetch(`${server.url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: nextBody(),
    });
  }
  await fetch(`${server.url}/v1/sessions/bench-session-0/risk`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  await server.stop();
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -262144');
  const large = Math.floor(size.events / 10);
  const small = size.events - large;
  database.exec('begin');
  fillSessions(database, size.sessions, Math.floor(small / size.sessions), large);
  fillEvents(database, 0, small, `'seeded-' || (n % ${size.sessions})`);
  fillEvents(database, small, large, `'${largeSession}'`);
  fillActivity(database);
  database.exec('commit');
  database.exec('pragma wal_checkpoint(truncate); analyze');
  database.close();
}

function numbers(from: number, count: number): string {
  return `with recursive counter(n) as (select ${from} union all select n + 1 from counter where n + 1 < ${from + count})`;
}

function fillSessions(database: DatabaseSync, sessions: number, eventsEach: number, large: number): void {
  const columns =
    'tenant_id, id, agent_id, agent_ids, started_ms, last_event_ms, event_count, error_count, last_arrival, tool_names, risk_score, risk_level, risk_arrival, risk_learned, received_ms';
  const score = `iif(n < ${riskySessions}, 99, abs(random()) % 99)`;
  const rest = `'["search"]', ${score}, 'low'`;
  database.exec(
    `${numbers(0, sessions)} insert into sessions (${columns}) select 1, 'seeded-' || n, 'agent-' || (n % 10), '["agent-' || (n % 10) || '"]', 1700000000000 + n * 1000, 1700000000000 + n * 1000, ${eventsEach}, 0, ${eventsEach}, ${rest}, ${eventsEach}, 1, 1700000000000 from counter`,
  );
  database.exec(
    `insert into sessions (${columns}) select 1, '${largeSession}', 'agent-1', '["agent-1"]', 1600000000000, 1700000000000, ${large}, 0, ${large}, ${rest}, ${large}, 1, 1700000000000 from (select ${riskySessions} as n)`,
  );
  const seeded = "from sessions where id like 'seeded-%' or id = 'large'";
  database.exec(
    `insert into session_tools (tenant_id, session_id, tool_name, started_ms) select tenant_id, id, 'search', started_ms ${seeded}`,
  );
  database.exec(
    `insert into session_agents (tenant_id, session_id, agent_id, started_ms, risk_score) select tenant_id, id, agent_id, started_ms, risk_score ${seeded}`,
  );
  // Few, and the oldest, which lists by time have last.
  database.exec(
    `insert into session_tools (tenant_id, session_id, tool_name, started_ms) select tenant_id, session_id, 'transfer_funds', started_ms from session_tools where session_id like 'seeded-%' order by started_ms limit ${riskySessions}`,
  );
  database.exec(
    "update sessions set has_denials = 1 where id in (select session_id from session_tools where tool_name = 'transfer_funds')",
  );
  database.exec(
    `insert into session_risk (tenant_id, session_id, state, baseline) select tenant_id, '${largeSession}', state, baseline from session_risk where session_id = 'bench-session-0'`,
  );
}

/** Days of the seeded sessions, from the day of the first one. */
const activeDays = 12;

const dayMs = 86_400_000;

/** The span of time that has counts in {@link seed}, at every size. */
export const activeSpan = {
  since: new Date(Math.floor(1_700_000_000_000 / dayMs) * dayMs).toISOString(),
  until: new Date((Math.floor(1_700_000_000_000 / dayMs) + activeDays) * dayMs).toISOString(),
};

/** Fills buckets with as many agents and tools as they can have. */
function fillActivity(database: DatabaseSync): void {
  const rows = (span: string, lengthMs: number) => `
    with recursive buckets(bucket) as (
      select ${Date.parse(activeSpan.since) / lengthMs}
      union all select bucket + 1 from buckets where bucket + 1 < ${Date.parse(activeSpan.until) / lengthMs}
    ), numbers(n) as (select 1 union all select n + 1 from numbers where n < 40), names(kind, name) as (
      select 'all', ''
      union all select 'agent', 'agent-' || n from numbers
      union all select 'tool', 'tool-' || n from numbers
    )
    insert into activity (tenant_id, span, kind, bucket_ms, name, slot, calls, errors)
    select 1, '${span}', kind, bucket * ${lengthMs}, name, 0, 100, bucket % 7 from buckets, names`;
  database.exec(rows('hour', 3_600_000));
  database.exec(rows('day', dayMs));
}

const argumentsHash = `sha256:${'9f'.repeat(32)}`;

function fillEvents(database: DatabaseSync, from: number, count: number, session: string): void {
  const id = `printf('%08x-0000-7000-8000-%012x', n / 65536, n)`;
  const payload = JSON.stringify({
    toolName: 'search',
    argumentsHash,
    responseStatus: 200,
  });
  database.exec(
    `${numbers(from, count)} insert into events (tenant_id, session_id, source_ms, event_id, arrival, agent_id, source_timestamp, category, schema_version, payload, received_ms, stamp, place, agent_key, tool_key, hash_key, mark) select 1, ${session}, 1700000000000 + n, ${id}, n - ${from} + 1, 'agent-1', '2023-11-14T22:13:20.000Z', 'tool_api', '1.0', '${payload}', 1700000000000, 0, (1700000000000 + n) * 32, ${searchKey('agent-1')}, ${searchKey('search')}, ${searchKey(argumentsHash)}, iif(n % 20 = 0, 1, 0) from counter`,
  );
}
