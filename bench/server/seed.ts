import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { ActivityEvent } from '@actlog/protocol';
import { v7 } from 'uuid';
import { appendEntries, type StoredTile, type Tile, type TileStore } from '../../packages/log/src/index.ts';
import { eventRowOf } from '../../packages/server/src/storage/postgres/event-rows.ts';
import { eventRow } from '../../packages/server/src/storage/stores/event-log.ts';
import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { ChildServer } from './child-server.ts';

/** Session that holds a tenth of all events, unless {@link SeedSize} says otherwise. It goes on until now. */
export const largeSession = 'large';

/** Tool that only the oldest sessions call, and the number of these sessions, which score 99. Lists by time have them last. */
export const rareTool = 'transfer_funds';
const riskySessions = 30;

type EventRow = ReturnType<typeof eventRow>;
type Client = Awaited<ReturnType<LocalPostgres['connect']>>;

/** Amount of seed data in a database. */
export interface SeedSize {
  readonly events: number;
  /** Events of each ten that belong to the large session. Default: 1. The others are in sessions of ten events. */
  readonly largeTenths?: number;
}

const dayMs = 86_400_000;

/** Days over which the events are spread, up to now. */
export const seededDays = 100;

/** Events of each session, and the sessions that are active at the same time. */
const perSession = 10;
const active = 100;

/** Milliseconds between an event and its receipt. */
const delayMs = 5;

const tenantId = 1;

/** Bits of the risk context of an ordinary event. */
const stamp = 66;

/** Places of the events in time and in sessions. */
class Plan {
  readonly events: number;
  readonly sessions: number;
  readonly startMs: number;
  readonly stepMs: number;
  readonly #large: number;

  constructor({ events, largeTenths = 1 }: SeedSize, untilMs: number) {
    this.events = events;
    this.#large = largeTenths;
    this.stepMs = Math.floor((seededDays * dayMs) / events);
    this.startMs = untilMs - events * this.stepMs;
    this.sessions = Math.floor(((events / 10) * (10 - largeTenths)) / (active * perSession)) * active;
  }

  /** Returns the parts of statements that insert the sessions, with `n` for the number of a session. */
  sessionSql(load: Loader) {
    const each = 10 - this.#large;
    const first = `((n / ${active}) * ${active * perSession} + n % ${active})`;
    const time = (small: string) =>
      `${this.startMs} + ((${small} / ${each}) * 10 + ${small} % ${each} + ${this.#large}) * ${this.stepMs}`;
    const endMs = this.startMs + (this.events - 11 + this.#large) * this.stepMs;
    return {
      started: time(first),
      ended: time(`(${first} + ${(perSession - 1) * active})`),
      numbers: load.numbers(0, this.sessions),
      large: {
        id: `'${largeSession}'`,
        agent: "'agent-1'",
        start: String(this.startMs),
        end: String(endMs),
        rank: '42',
        count: String((this.events / 10) * this.#large),
      },
    };
  }

  /** Returns an event as an agent would send it, with its place in its session. `random` is for its id. */
  event(n: number, random: Uint8Array) {
    const sourceMs = this.startMs + n * this.stepMs;
    const at = n % 10;
    const isLarge = at < this.#large;
    const small = Math.floor(n / 10) * (10 - this.#large) + at - this.#large;
    const within = small % (active * perSession);
    const session = Math.floor(small / (active * perSession)) * active + (within % active);
    const arrival = isLarge ? Math.floor(n / 10) * this.#large + at + 1 : Math.floor(within / active) + 1;
    const event: ActivityEvent = {
      ...seededCall(
        isLarge ? 'plain' : kindOf(session),
        isLarge ? 'agent-1' : `agent-${session % 10}`,
        arrival,
      ),
      eventId: v7({ msecs: sourceMs, random }),
      sessionId: isLarge ? largeSession : `seeded-${session}`,
      sourceTimestamp: new Date(sourceMs).toISOString(),
    };
    return { event, sourceMs, arrival };
  }

  /** Returns the row of an event. */
  row(n: number, random: Uint8Array): EventRow {
    const { event, sourceMs, arrival } = this.event(n, random);
    const receivedMs = sourceMs + delayMs;
    return eventRow(event, {
      tenantId,
      sourceMs,
      arrival,
      receivedMs,
      stamp,
      identity: null,
      traceparent: null,
    });
  }
}

/** Kinds of sessions: one with the rare tool, denied; one with a failed call; and all others. */
type Kind = 'risky' | 'failing' | 'plain';

function kindOf(session: number): Kind {
  if (session < riskySessions) return 'risky';
  return session % 3 === 0 ? 'failing' : 'plain';
}

/** Returns the parts of an event that its time and its id have no influence on. */
function seededCall(kind: Kind, agentId: string, arrival: number) {
  const isLast = arrival === perSession;
  const isRisky = kind === 'risky' && isLast;
  const failed = kind === 'failing' && isLast ? 500 : 200;
  return {
    agentId,
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: {
      toolName: isRisky ? rareTool : `search_documents_${arrival % 7}`,
      argumentsHash: `sha256:${(arrival * 7919).toString(16).padStart(64, '9f')}`,
      responseStatus: isRisky ? 403 : failed,
    },
  };
}

/** Options for {@link seed}. */
export interface SeedOptions {
  /** Server of a PostgreSQL database, which is filled as its superuser. */
  readonly postgres?: LocalPostgres | undefined;
  /** Time of the newest event, in Unix milliseconds. Default: now. */
  readonly untilMs?: number;
}

/**
 * Fills a new database with the rows that a server would have written, in the order of arrival: events and the log by the
 * server's own functions, in bulk; sessions and their risk as copies of some that a real server has recorded and scored.
 * Ten million events take some minutes; as requests they would take an hour. Indexes of events are built at the end.
 *
 * @param database - an SQLite file, or the name of a database of `postgres` that `actlog` owns
 */
export async function seed(
  database: string,
  size: SeedSize,
  { postgres, untilMs = Date.now() }: SeedOptions = {},
): Promise<void> {
  const server = await ChildServer.start('actlog', postgres ? postgres.url(database, 'actlog') : database);
  const load: Loader = postgres ? await PostgresLoader.open(postgres, database) : new SqliteLoader(database);
  try {
    await recordTemplates(server, load).finally(() => server.stop());
    const plan = new Plan(size, untilMs);
    await load.begin();
    await fillEvents(load, plan);
    await fillSessions(load, plan);
    await fillActivity(load);
    await load.end();
  } finally {
    await load.close();
  }
}

/** Settings of the PostgreSQL server of {@link Seeds}: durable as by default. */
const settings = ['shared_preload_libraries=pg_stat_statements', 'shared_buffers=1GB', 'max_wal_size=8GB'];

/** Databases that benchmarks read: one for each number of events. */
export class Seeds {
  readonly #folder: string;
  readonly #isKept: boolean;
  #postgres: LocalPostgres | undefined;

  /** @param kept - folder that outlives this run, so that the next one need not fill it again; else a temporary one */
  constructor(kept?: string) {
    this.#folder = kept ? resolve(kept) : mkdtempSync(join(tmpdir(), 'actlog-bench-'));
    this.#isKept = kept !== undefined;
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Returns the file of a seeded SQLite database. */
  async sqlite(events: number): Promise<string> {
    const file = join(this.#folder, `${events}.db`);
    if (!existsSync(file)) {
      await seed(join(this.#folder, 'new.db'), { events });
      for (const ending of ['', '.secret']) renameSync(join(this.#folder, `new.db${ending}`), file + ending);
    }
    return file;
  }

  /** Returns the name of a seeded database of {@link postgres}. */
  async database(events: number): Promise<string> {
    const postgres = await this.postgres();
    const name = `seeded_${events}`;
    const [found] = await postgres.query('postgres', `select 1 from pg_database where datname = '${name}'`);
    if (found) return name;
    await postgres.query('postgres', 'drop database if exists new');
    await postgres.query('postgres', 'create database new owner actlog');
    // Both are of no use before the database is complete.
    await this.#set('set fsync = off', 'set full_page_writes = off');
    await seed('new', { events }, { postgres });
    await this.#set('reset fsync', 'reset full_page_writes');
    await postgres.query('postgres', `alter database new rename to ${name}`);
    return name;
  }

  /** Copies a database, for a measurement that changes it. Returns its name or file. */
  async copy(seeded: string): Promise<string> {
    if (!this.#postgres || isAbsolute(seeded)) {
      const file = join(this.#folder, 'copy.db');
      await this.drop(file);
      // A server that was killed has left a log.
      for (const ending of ['', '-wal', '.secret'].filter((one) => existsSync(seeded + one))) {
        copyFileSync(seeded + ending, file + ending);
      }
      return file;
    }
    await this.drop('copy');
    await this.#postgres.query(
      'postgres',
      `create database copy template ${seeded} owner actlog strategy file_copy`,
    );
    return 'copy';
  }

  /** Drops a copy. */
  async drop(copy: string): Promise<void> {
    if (!isAbsolute(copy)) await this.#postgres?.query('postgres', `drop database if exists ${copy}`);
    else for (const ending of ['', '-wal', '-shm', '.secret']) rmSync(copy + ending, { force: true });
  }

  async #set(...changes: readonly string[]): Promise<void> {
    const postgres = await this.postgres();
    for (const change of changes) await postgres.query('postgres', `alter system ${change}`);
    await postgres.query('postgres', 'select pg_reload_conf()');
  }

  /** Returns the server of the PostgreSQL databases. @throws Error when this machine has none. */
  async postgres(): Promise<LocalPostgres> {
    if (this.#postgres) return this.#postgres;
    const kept = this.#isKept ? join(this.#folder, 'postgres') : undefined;
    const isNew = kept === undefined || !existsSync(kept);
    const postgres = await LocalPostgres.create(settings, kept);
    if (typeof postgres === 'string') throw new Error(postgres);
    if (isNew) await postgres.query('postgres', 'create role actlog login');
    this.#postgres = postgres;
    return postgres;
  }

  async close(): Promise<void> {
    await this.#postgres?.destroy();
    if (!this.#isKept) rmSync(this.#folder, { recursive: true });
  }
}

const kinds: readonly Kind[] = ['risky', 'failing', 'plain'];

/** Returns the id of the session that others of its kind are copied from. */
function templateOf(kind: Kind): string {
  return `template-${kind}`;
}

/** Lets a real server record one session of each kind, score it, and log it. Each agent has an event. */
async function recordTemplates({ url, apiKey }: ChildServer, load: Loader): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = async (sessionId: string, event: ReturnType<typeof seededCall>) => {
    const envelope = { ...event, sessionId, eventId: v7(), sourceTimestamp: new Date().toISOString() };
    const response = await fetch(`${url}/v1/events`, {
      method: 'POST',
      headers,
      body: JSON.stringify(envelope),
    });
    if (response.status !== 202) throw new Error(`An event was not stored: ${await response.text()}`);
  };
  for (let agent = 0; agent < 10; agent += 1) {
    await send('template-agents', seededCall('plain', `agent-${agent}`, 1));
  }
  for (const kind of kinds) {
    for (let arrival = 1; arrival <= perSession; arrival += 1) {
      await send(templateOf(kind), seededCall(kind, 'agent-0', arrival));
    }
    await fetch(`${url}/v1/sessions/${templateOf(kind)}/risk`, { headers });
  }
  const behind = 'select count(*) as count from sessions where is_unlogged = 1 or is_unscored = 1';
  while (Number((await load.rows<{ count: number }>(behind))[0]?.count) > 0) await setTimeout(50);
}

/** Events whose entries are appended to the log at once. */
const appendedAtOnce = 4096;

/** Bytes of an entry of the log, and of the random part of an id. */
const entryBytes = 32;
const idBytes = 16;

/**
 * Inserts the events, and their entries in the log, with one range for each event, as in sessions that last for a while. The
 * entries are random instead of hashes of the events: no read and no deletion compares them.
 */
async function fillEvents(load: Loader, plan: Plan): Promise<void> {
  const tiles = await SeededTiles.open(load);
  const [head] = await load.rows<{ size: number }>('select size from log_heads');
  const first = Number(head?.size);
  let size = first;
  let root = Buffer.alloc(0) as Uint8Array;
  for (let from = 0; from < plan.events; from += appendedAtOnce) {
    const count = Math.min(plan.events - from, appendedAtOnce);
    const random = randomBytes(count * (entryBytes + idBytes));
    const entries: Uint8Array[] = [];
    for (let index = 0; index < count; index += 1) {
      const at = index * (entryBytes + idBytes);
      entries.push(random.subarray(at, at + entryBytes));
      await load.addEvent(
        plan.row(from + index, random.subarray(at + entryBytes, at + entryBytes + idBytes)),
      );
    }
    ({ size, root } = await appendEntries(tiles, size, entries));
  }
  await tiles.end();
  await load.flush();
  const stored = `source_ms <= ${plan.startMs + plan.events * plan.stepMs} and session_id not like 'template-%'`;
  await load.run(
    `insert into log_ranges (tenant_id, first_index, entry_count, kind, id, first_arrival, secret)
      select tenant_id, ${first} + (source_ms - ${plan.startMs}) / ${plan.stepMs}, 1, 'event', session_id, arrival,
        ${load.secret} from ${load.events} where ${stored}`,
    `insert into log_times (tenant_id, minute, first_index)
      select tenant_id, received_ms / 60000, min(${first} + (source_ms - ${plan.startMs}) / ${plan.stepMs})
      from ${load.events} where ${stored} group by tenant_id, received_ms / 60000 having true on conflict do nothing`,
    `update log_heads set size = ${size}, root = '${Buffer.from(root).toString('base64')}'`,
    ...Object.entries({ events: plan.events, sessions: plan.sessions + 1 }).map(
      ([kind, amount]) =>
        `update usage set amount = amount + ${amount}
          where kind = '${kind}' and slot = (select min(slot) from usage where kind = '${kind}')`,
    ),
  );
}

/** Level of the rows with entries, as the server stores it, and entries of a full tile. */
const entriesLevel = -1;
const tileWidth = 256;

/** Tiles of the log. Only those at its right edge are kept, because full ones are not read again. */
class SeededTiles implements TileStore {
  readonly #load: Loader;
  readonly #edge = new Map<string, { readonly level: number; readonly tile: number; bytes: Uint8Array }>();

  private constructor(load: Loader) {
    this.#load = load;
  }

  /** Takes the tiles that the database has, which are partial. */
  static async open(load: Loader): Promise<SeededTiles> {
    const tiles = new SeededTiles(load);
    type Row = { level: number; tile: number; bytes: Uint8Array };
    for (const { level, tile, bytes } of await load.rows<Row>('select level, tile, bytes from log_tiles')) {
      tiles.#edge.set(`${level}/${tile}`, { level, tile: Number(tile), bytes });
    }
    await load.run('delete from log_tiles');
    return tiles;
  }

  async readTile({ level, index }: Tile): Promise<Uint8Array | undefined> {
    return this.#edge.get(`${level === 'entries' ? entriesLevel : level}/${index}`)?.bytes;
  }

  async writeTiles(stored: readonly StoredTile[]): Promise<void> {
    for (const { tile, bytes } of stored) {
      const level = tile.level === 'entries' ? entriesLevel : tile.level;
      const row = { level, tile: tile.index, bytes };
      if (tile.width < tileWidth) this.#edge.set(`${level}/${tile.index}`, row);
      else {
        this.#edge.delete(`${level}/${tile.index}`);
        await this.#load.add('log_tiles', { tenant_id: tenantId, ...row });
      }
    }
  }

  /** Stores the partial tiles. */
  async end(): Promise<void> {
    for (const row of this.#edge.values()) await this.#load.add('log_tiles', { tenant_id: tenantId, ...row });
  }
}

/** Copies the recorded sessions, with times, agents and scores of their own. */
async function fillSessions(load: Loader, plan: Plan): Promise<void> {
  const { started, ended, numbers, large } = plan.sessionSql(load);
  const conditions: Record<Kind, string> = {
    risky: `n < ${riskySessions}`,
    failing: `n >= ${riskySessions} and n % 3 = 0`,
    plain: `n >= ${riskySessions} and n % 3 <> 0`,
  };
  const score = `case when n < ${riskySessions} then 99 else (n * 7919) % 99 end`;
  for (const kind of kinds) {
    const from = `cross join ${numbers} where ${conditions[kind]} and`;
    // The large session is like an ordinary one, but for its number of events.
    for (const { id, agent, start, end, rank, tail, count } of [
      {
        id: "'seeded-' || n",
        agent: "'agent-' || (n % 10)",
        start: started,
        end: ended,
        rank: score,
        tail: from,
        count: undefined,
      },
      ...(kind === 'plain' ? [{ ...large, tail: 'where' }] : []),
    ]) {
      const counted = count ?? 't.event_count';
      const denied = kind === 'risky' ? '1' : 't.has_denials';
      await load.run(
        `insert into sessions (tenant_id, id, agent_id, agent_ids, started_ms, last_event_ms, received_ms, tool_names,
            risk_score, risk_level, risk_learned, has_errors, has_denials, has_holds, error_count,
            event_count, last_arrival, risk_arrival, log_arrival)
          select t.tenant_id, ${id}, ${agent}, '["' || ${agent} || '"]', ${start}, ${end}, ${end} + ${delayMs}, t.tool_names,
            ${rank}, t.risk_level, 1, t.has_errors, ${denied}, t.has_holds, t.error_count,
            ${counted}, ${counted}, ${counted}, ${counted}
          from sessions as t ${tail} t.id = '${templateOf(kind)}'`,
        `insert into session_agents (tenant_id, session_id, agent_id, started_ms, risk_score)
          select t.tenant_id, ${id}, ${agent}, ${start}, ${rank}
          from session_agents as t ${tail} t.session_id = '${templateOf(kind)}'`,
        `insert into session_tools (tenant_id, session_id, tool_name, started_ms)
          select t.tenant_id, ${id}, t.tool_name, ${start}
          from session_tools as t ${tail} t.session_id = '${templateOf(kind)}'`,
        `insert into session_risk (tenant_id, session_id, state, baseline, tags_version)
          select t.tenant_id, ${id}, t.state, t.baseline, t.tags_version
          from session_risk as t ${tail} t.session_id = '${templateOf(kind)}'`,
      );
    }
  }
}

/** Days of {@link activeSpan}. */
const activeDays = 12;

const today = Math.floor(Date.now() / dayMs);

/** The span of time that has counts in a seeded database, at every size. */
export const activeSpan = {
  since: new Date((today - activeDays + 1) * dayMs).toISOString(),
  until: new Date((today + 1) * dayMs).toISOString(),
};

/** Fills buckets with as many agents and tools as they can have. */
async function fillActivity(load: Loader): Promise<void> {
  for (const [span, lengthMs] of [
    ['hour', 3_600_000],
    ['day', dayMs],
  ] as const) {
    const buckets = load.numbers(
      Date.parse(activeSpan.since) / lengthMs,
      Date.parse(activeSpan.until) / lengthMs,
    );
    await load.run(
      `insert into activity (tenant_id, span, kind, bucket_ms, name, slot, calls, errors)
        select ${tenantId}, '${span}', kind, n * ${lengthMs}, name, 0, 100, n % 7
        from ${buckets} cross join (
          select 'all' as kind, '' as name
          union all select 'agent', 'agent-' || n from ${load.numbers(1, 41)}
          union all select 'tool', 'tool-' || n from ${load.numbers(1, 41)}
        ) as named where true on conflict do nothing`,
    );
  }
}

/** Tables whose indexes are built after their rows are inserted. */
const bulkTables = "('events', 'event_rows', 'log_ranges', 'sessions', 'session_agents', 'session_tools')";

type Row = Readonly<Record<string, string | number | Uint8Array | null>>;

/** Inserts rows in bulk. */
interface Loader {
  /** Drops the indexes of large tables. */
  begin(): Promise<void>;
  /** Builds the indexes again. */
  end(): Promise<void>;
  close(): Promise<void>;
  /** Table of the events, and a secret for the range of one. */
  readonly events: string;
  readonly secret: string;
  addEvent(event: EventRow): Promise<void>;
  /** Inserts a row with the same columns as every other one of the table. */
  add(table: string, row: Row): Promise<void>;
  /** Inserts the rows that were added. */
  flush(): Promise<void>;
  run(...statements: readonly string[]): Promise<void>;
  rows<Result extends object>(query: string): Promise<Result[]>;
  /** Returns SQL for rows `n` from `first` until before `end`. */
  numbers(first: number, end: number): string;
}

class SqliteLoader implements Loader {
  readonly events = 'events';
  readonly secret = "lower(hex(randomblob(11))) || '=='";
  readonly #database: DatabaseSync;
  readonly #inserts = new Map<string, StatementSync>();
  #indexes: readonly string[] = [];
  #statistics: readonly Row[] = [];

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 10_000 });
  }

  async begin() {
    this.#database.exec('pragma synchronous = off; pragma cache_size = -1048576; pragma temp_store = memory');
    this.#database.exec('pragma wal_autocheckpoint = 100000; begin');
    const found = await this.rows<{ name: string; sql: string }>(
      `select name, sql from sqlite_master where type = 'index' and sql is not null and tbl_name in ${bulkTables}`,
    );
    this.#indexes = found.map(({ sql }) => sql);
    // SQLite drops the statistics of an index with it, and would then plan as no server does.
    this.#statistics = await this.rows<Row>('select * from sqlite_stat1');
    for (const { name } of found) this.#database.exec(`drop index ${name}`);
  }

  async end() {
    for (const index of this.#indexes) this.#database.exec(index);
    this.#database.exec('delete from sqlite_stat1');
    for (const row of this.#statistics) await this.add('sqlite_stat1', row);
    this.#database.exec('commit; pragma wal_checkpoint(truncate)');
  }

  async close() {
    this.#database.close();
  }

  addEvent(event: EventRow) {
    return this.add('events', event as unknown as Row);
  }

  async add(table: string, row: Row) {
    let insert = this.#inserts.get(table);
    if (!insert) {
      const columns = Object.keys(row);
      insert = this.#database.prepare(`insert into ${table} (${columns}) values (${columns.map(() => '?')})`);
      this.#inserts.set(table, insert);
    }
    insert.run(...(Object.values(row) as SQLInputValue[]));
  }

  async flush() {}

  async run(...statements: readonly string[]) {
    for (const statement of statements) this.#database.exec(statement);
  }

  async rows<Result extends object>(query: string) {
    return this.#database.prepare(query).all() as unknown as Result[];
  }

  numbers(first: number, end: number) {
    const counter = `with recursive counter(n) as (select ${first} union all select n + 1 from counter where n + 1 < ${end})`;
    return `(${counter} select n from counter) as numbers`;
  }
}

/** Characters of a table's rows that one `copy` inserts. */
const copiedAtOnce = 32_000_000;

class PostgresLoader implements Loader {
  readonly events = 'event_rows';
  readonly secret = "left(md5(event_id::text), 22) || '=='";
  readonly #client: Client;
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-seed-'));
  readonly #lines = new Map<string, { lines: string[]; length: number; columns: readonly string[] }>();
  #indexes: readonly string[] = [];

  private constructor(client: Client) {
    this.#client = client;
    // The server has a user of its own, who reads the files.
    chmodSync(this.#folder, 0o755);
  }

  static async open(postgres: LocalPostgres, database: string) {
    return new PostgresLoader(await postgres.connect(database));
  }

  async begin() {
    await this.run("set synchronous_commit = off; set maintenance_work_mem = '1GB'");
    const found = await this.rows<{ name: string; sql: string }>(
      `select indexname as name, indexdef as sql from pg_indexes where tablename in ${bulkTables}
        and not exists (select from pg_constraint where conname = indexname)`,
    );
    this.#indexes = found.map(({ sql }) => sql);
    for (const { name } of found) await this.run(`drop index ${name}`);
  }

  async end() {
    for (const index of this.#indexes) await this.run(index);
    // As autovacuum has done long before a database is as large.
    await this.run('vacuum (freeze, analyze)', 'checkpoint');
  }

  async close() {
    await this.#client.end();
    rmSync(this.#folder, { recursive: true });
  }

  addEvent(event: EventRow) {
    return this.add('event_rows', eventRowOf(event) as unknown as Row);
  }

  async add(table: string, row: Row) {
    let added = this.#lines.get(table);
    if (!added) {
      added = { lines: [], length: 0, columns: Object.keys(row) };
      this.#lines.set(table, added);
    }
    const line = Object.values(row).map(copied).join('\t');
    added.lines.push(line);
    added.length += line.length;
    if (added.length > copiedAtOnce) await this.#copy(table);
  }

  async flush() {
    for (const table of this.#lines.keys()) await this.#copy(table);
  }

  async #copy(table: string) {
    const added = this.#lines.get(table);
    if (!added) return;
    this.#lines.delete(table);
    const file = join(this.#folder, table);
    writeFileSync(file, `${added.lines.join('\n')}\n`);
    await this.run(`copy ${table} (${added.columns}) from '${file}'`);
  }

  async run(...statements: readonly string[]) {
    for (const statement of statements) await this.#client.query(statement);
  }

  async rows<Result extends object>(query: string) {
    return (await this.#client.query<Result>(query)).rows;
  }

  numbers(first: number, end: number) {
    return `generate_series(${first}::bigint, ${end - 1}) as numbers (n)`;
  }
}

/** Returns a value in the text format of `copy`. */
function copied(value: Row[string] | undefined): string {
  if (value == null) return '\\N';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return `\\\\x${Buffer.from(value).toString('hex')}`;
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}
