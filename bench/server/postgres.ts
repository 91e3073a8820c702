import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { eventBodies, shortSessionAgent, shortSessionBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { startSink } from './forwarding.ts';
import { type LoadResult, load } from './load.ts';

/** Durable ingest through processes that share one PostgreSQL. */
export interface PostgresIngestResult {
  readonly load: string;
  readonly eventsPerSecond: number;
  /** The limit is 50. */
  readonly p99Ms: number;
  /** Processor time of the server processes per event, in microseconds, and its ratio to a handler that stores nothing. */
  readonly serverMicros: number;
  readonly timesBare: number;
  /** Processor time of all processes of PostgreSQL per event, in microseconds. */
  readonly postgresMicros: number;
  /** Bytes of the write-ahead log, and of the database including indexes, per event. */
  readonly walBytes: number;
  readonly storedBytes: number;
  /** Statements of any kind per event: each is a round trip unless it is sent together with others. */
  readonly statementsPerEvent: number;
  /** Events per commit. */
  readonly eventsPerCommit: number;
  /** Share of the samples in which a busy connection waited for a lock of another. */
  readonly lockWaits: number;
  readonly deadlocks: number;
  /** Acknowledged events that are not stored exactly once: must be 0. */
  readonly lostOrDoubled: number;
}

/** Costs of one table, for each event of a load. */
export interface TableCost {
  readonly table: string;
  /** Bytes of the write-ahead log for the table and its indexes. */
  readonly walBytes: number;
  readonly walBytesOfIndexes: number;
  readonly storedBytes: number;
  readonly storedBytesOfIndexes: number;
  readonly updates: number;
  /** Share of the updates that changed no index (HOT). */
  readonly inPlace: number;
}

/** Options for {@link measurePostgres}. */
export interface PostgresOptions {
  /** `true` for more and longer loads. */
  readonly isFull: boolean;
  /** `true` to measure each load also with servers that keep the log, and with those that have a history too. */
  readonly keepsLog: boolean;
  /** Measures only loads whose names contain this text. */
  readonly only: string | undefined;
}

/** All results, and for the loads with one process the costs by table, and the write-ahead log by index of the events. */
export interface PostgresResults {
  readonly loads: readonly PostgresIngestResult[];
  readonly tables: Readonly<Record<string, readonly TableCost[]>>;
  readonly indexes: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Settings: durable as by default, without checkpoints, whose page images would make bytes depend on the time. */
const settings = [
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.max=1000',
  'checkpoint_timeout=1h',
  'max_wal_size=8GB',
];

type Observer = Awaited<ReturnType<LocalPostgres['connect']>>;

/** Milliseconds between samples of the connections' waits. */
const sampleEveryMs = 25;

/** Milliseconds in which connections of a stopped server end. */
const settleMs = 500;

interface Load {
  readonly name: string;
  readonly processes: number;
  /** Callers of each process. */
  readonly callers: number;
  /** Returns a generator of bodies for the process with this number. */
  readonly bodies: (process: number) => () => string;
  readonly isOnlyFull?: boolean;
}

/** Agents of the load with short sessions, which exist before. */
const agents = 10_000;

const warmMs = 1500;

const longSessions = () => eventBodies(50);
const ownSessions = (next: () => string, process: number) => () =>
  next().replace('"bench-session-', `"bench-session-of-${process}-`);

const loads: readonly Load[] = [
  { name: '64 callers, long sessions', processes: 1, callers: 64, bodies: longSessions },
  { name: '256 callers, long sessions', processes: 1, callers: 256, bodies: longSessions },
  {
    name: '10,000 agents, 2–3 events a session',
    processes: 1,
    callers: 256,
    bodies: () => shortSessionBodies(agents),
  },
  {
    name: 'four processes, own sessions',
    processes: 4,
    callers: 64,
    bodies: (process) => ownSessions(longSessions(), process),
  },
  { name: 'four processes, same sessions', processes: 4, callers: 64, bodies: longSessions },
  {
    name: 'four processes, 10,000 agents, 2–3 events a session',
    processes: 4,
    callers: 64,
    bodies: (process) => ownSessions(shortSessionBodies(agents / 4), process),
    isOnlyFull: true,
  },
];

/** Measures loads of one process and of four, beside a handler that stores nothing. */
export async function measurePostgres(options: PostgresOptions): Promise<PostgresResults | undefined> {
  const postgres = await LocalPostgres.create(settings);
  if (typeof postgres === 'string') {
    console.warn(`NOT TRIED on PostgreSQL: ${postgres}.`);
    return undefined;
  }
  const clickHouse = await startSink();
  try {
    await postgres.query('postgres', 'create role actlog login');
    const durationMs = options.isFull ? 10_000 : 4000;
    const results: PostgresIngestResult[] = [];
    const tables: Record<string, readonly TableCost[]> = {};
    const indexes: Record<string, Readonly<Record<string, number>>> = {};
    const chosen = loads.filter(
      ({ name, isOnlyFull = false }) => name.includes(options.only ?? '') && (options.isFull || !isOnlyFull),
    );
    for (const [index, one] of chosen.entries()) {
      const bare = await measureBare(one.callers, durationMs / 4);
      const states = [
        { suffix: '', keepLog: false },
        { suffix: ', with the log', keepLog: true },
        {
          suffix: ', with a history',
          keepLog: true,
          history: `http://actlog:bench@127.0.0.1:${clickHouse.port}/bench`,
        },
      ];
      for (const { suffix, ...settings } of options.keepsLog ? states : states.slice(0, 1)) {
        const run = { ...one, name: `${one.name}${suffix}` };
        const database = `bench_${index}${suffix.replaceAll(/\W+/g, '_')}`;
        const result = await measure(postgres, database, run, durationMs, settings);
        results.push({ ...result.ingest, timesBare: result.ingest.serverMicros / bare });
        if (one.processes > 1) continue;
        tables[run.name] = result.tables;
        indexes[run.name] = result.indexes;
      }
    }
    return { loads: results.map(rounded), tables, indexes };
  } finally {
    clickHouse.stop();
    await postgres.destroy();
  }
}

/** Returns the processor time of a request to a handler that stores nothing, in microseconds. */
async function measureBare(callers: number, durationMs: number): Promise<number> {
  const server = await ChildServer.start('bare');
  try {
    const { url, apiKey } = server;
    const run = (forMs: number) =>
      load({ url, apiKey, connections: callers, durationMs: forMs, nextBody: longSessions() });
    await run(durationMs);
    const { cpuMicros: before } = await server.usage();
    const { requests } = await run(durationMs);
    return ((await server.usage()).cpuMicros - before) / requests;
  } finally {
    await server.stop();
  }
}

async function measure(
  postgres: LocalPostgres,
  database: string,
  { name, processes, callers, bodies }: Load,
  durationMs: number,
  settings: Record<string, unknown>,
): Promise<{
  ingest: Omit<PostgresIngestResult, 'timesBare'>;
  tables: TableCost[];
  indexes: Record<string, number>;
}> {
  await postgres.query('postgres', `create database ${database} owner actlog`);
  await postgres.query(database, 'create extension pg_stat_statements; create extension pg_walinspect');
  const servers: ChildServer[] = [];
  // One connection for all questions, because the start of another would count as processor time.
  const observer = await postgres.connect(database);
  try {
    for (let index = 0; index < processes; index += 1) {
      const url = postgres.url(database, 'actlog');
      servers.push(await ChildServer.start('actlog', url, { settings }));
    }
    await observer.query(
      `insert into agents (tenant_id, id, metadata, status, registered, created_ms, updated_ms)
        select 1, '${shortSessionAgent(0).slice(0, -1)}' || number, '{}', 'active', 0, 0, 0 from generate_series(0, ${agents - 1}) as number`,
    );
    const nextBodies = servers.map((_, index) => bodies(index));
    const run = (forMs: number) =>
      Promise.all(
        servers.map(({ url, apiKey }, index) => {
          const nextBody = nextBodies[index] as () => string;
          return load({ url, apiKey, connections: callers, durationMs: forMs, nextBody });
        }),
      );
    const warm = await run(warmMs);
    const [{ pid }] = (await observer.query<{ pid: number }>('select pg_backend_pid() as pid')).rows as [
      { pid: number },
    ];
    await observer.query('select pg_stat_statements_reset()');
    const before = await statistics(observer);
    const serversBefore = await serverMicros(servers);
    const postgresBefore = postgresMicros(postgres.pid, pid);
    const waits = new LockWaits(observer);
    const results = await run(durationMs);
    const lockWaits = await waits.end();
    const serverTime = (await serverMicros(servers)) - serversBefore;
    const postgresTime = postgresMicros(postgres.pid, pid) - postgresBefore;
    const events = count(results);
    const [counted] = (
      await observer.query<{ statements: number; commits: number }>(
        `select sum(calls)::int as statements, sum(calls) filter (where query = 'commit')::int as commits
          from pg_stat_statements where userid = 'actlog'::regrole`,
      )
    ).rows;
    const end = await statistics(observer);
    // Connections report what they changed when they end.
    for (const server of servers) await server.stop();
    await setTimeout(settleMs);
    const after = { ...end, tables: (await statistics(observer)).tables };
    const [stored] = (
      await observer.query<{ events: number; deadlocks: number }>(
        `select (select count(*)::int from events) as events, deadlocks::int
          from pg_stat_database where datname = current_database()`,
      )
    ).rows;
    return {
      ingest: {
        load: name,
        eventsPerSecond: results.reduce((sum, one) => sum + one.requestsPerSecond, 0),
        p99Ms: Math.max(...results.map((one) => one.p99Ms)),
        serverMicros: serverTime / events,
        postgresMicros: postgresTime / events,
        walBytes: (after.walBytes - before.walBytes) / events,
        storedBytes: (after.storedBytes - before.storedBytes) / events,
        statementsPerEvent: (counted?.statements ?? 0) / events,
        eventsPerCommit: events / (counted?.commits ?? 0),
        lockWaits,
        deadlocks: stored?.deadlocks ?? 0,
        lostOrDoubled: Math.abs(count(warm) + events - (stored?.events ?? 0)),
      },
      tables: await tableCosts(observer, before, after, events),
      indexes: rounded(await indexCosts(observer, before, after, events)),
    };
  } finally {
    await observer.end();
    for (const server of servers) await server.stop();
  }
}

function count(results: readonly LoadResult[]): number {
  return results.reduce((sum, { requests, refused }) => sum + requests - refused, 0);
}

async function serverMicros(servers: readonly ChildServer[]): Promise<number> {
  const usages = await Promise.all(servers.map((server) => server.usage()));
  return usages.reduce((sum, usage) => sum + usage.cpuMicros, 0);
}

/** Microseconds of a clock tick of `/proc`, which is 10 ms on every Linux that Node.js supports. */
const tickMicros = 10_000;

/** Returns the processor time of a server of PostgreSQL and its processes, without one of them, in microseconds. */
export function postgresMicros(serverPid: number, without: number): number {
  let ticks = 0;
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === without) continue;
    const fields = statOf(pid);
    if (!fields) continue;
    // Parent; user and system time; those of ended children, which only the server itself waits for.
    const [, parent, , , , , , , , , , user, system, endedUser, endedSystem] = fields.map(Number);
    if (pid !== serverPid && parent !== serverPid) continue;
    ticks += Number(user) + Number(system);
    if (pid === serverPid) ticks += Number(endedUser) + Number(endedSystem);
  }
  return ticks * tickMicros;
}

/** Returns the fields of a process after its name, or `undefined` if it has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Samples the waits of a database's connections. */
class LockWaits {
  readonly #looking: Promise<void>;
  #isOver = false;
  #busy = 0;
  #waiting = 0;

  constructor(observer: Observer) {
    this.#looking = this.#look(observer);
  }

  /** Returns the share of samples in which a busy connection waited for a lock. */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#looking;
    return this.#waiting / Math.max(1, this.#busy);
  }

  async #look(observer: Observer): Promise<void> {
    while (!this.#isOver) {
      const { rows } = await observer.query<{ busy: number; waiting: number }>(
        `select count(*)::int as busy, count(*) filter (where wait_event_type = 'Lock')::int as waiting
          from pg_stat_activity where usename = 'actlog' and state <> 'idle'`,
      );
      this.#busy += rows[0]?.busy ?? 0;
      this.#waiting += rows[0]?.waiting ?? 0;
      await setTimeout(sampleEveryMs);
    }
  }
}

/** Size and changes of a table. */
interface TableStatistics {
  readonly stored: number;
  readonly indexes: number;
  readonly updates: number;
  readonly hot: number;
}

interface Statistics {
  readonly lsn: string;
  readonly walBytes: number;
  readonly storedBytes: number;
  readonly tables: ReadonlyMap<string, TableStatistics>;
}

async function statistics(observer: Observer): Promise<Statistics> {
  const { rows: tables } = await observer.query<TableStatistics & { name: string }>(
    `select relname as name, pg_total_relation_size(relid)::float8 as stored, pg_indexes_size(relid)::float8 as indexes,
        n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot
      from pg_stat_user_tables`,
  );
  const { rows } = await observer.query<Omit<Statistics, 'tables'>>(
    `select pg_current_wal_insert_lsn()::text as lsn,
      (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as "walBytes",
      pg_database_size(current_database())::float8 as "storedBytes"`,
  );
  return { ...(rows[0] as Statistics), tables: new Map(tables.map(({ name, ...table }) => [name, table])) };
}

/** Returns the costs of each table that the load has changed, the highest first. */
async function tableCosts(
  observer: Observer,
  before: Statistics,
  after: Statistics,
  events: number,
): Promise<TableCost[]> {
  const { rows } = await observer.query<{ name: string; wal: number; indexes: number }>(
    `select relation.relname as name, sum(record.bytes)::float8 as wal,
        coalesce(sum(record.bytes) filter (where changed.relkind = 'i'), 0)::float8 as indexes
      from (
        select relfilenode, sum(record_length) as bytes from pg_get_wal_block_info('${before.lsn}', '${after.lsn}')
        where block_id = 0 and reldatabase = (select oid from pg_database where datname = current_database())
        group by 1
      ) as record
      join pg_class as changed using (relfilenode)
      left join pg_index on indexrelid = changed.oid
      join pg_class as relation on relation.oid = coalesce(indrelid, changed.oid) group by 1`,
  );
  const wal = new Map(rows.map((row) => [row.name, row]));
  const costs = [...after.tables].map(([table, now]): TableCost => {
    const then = before.tables.get(table);
    const added = (column: keyof TableStatistics) => now[column] - (then?.[column] ?? 0);
    return {
      table,
      walBytes: (wal.get(table)?.wal ?? 0) / events,
      walBytesOfIndexes: (wal.get(table)?.indexes ?? 0) / events,
      storedBytes: added('stored') / events,
      storedBytesOfIndexes: added('indexes') / events,
      updates: added('updates') / events,
      inPlace: added('hot') / Math.max(1, added('updates')),
    };
  });
  return costs
    .filter(({ walBytes }) => walBytes >= 1)
    .sort((left, right) => right.walBytes - left.walBytes)
    .map(rounded);
}

/** Returns the bytes of the write-ahead log for each index of the events, for each event, the most first. */
async function indexCosts(
  observer: Observer,
  before: Statistics,
  after: Statistics,
  events: number,
): Promise<Record<string, number>> {
  const { rows } = await observer.query<{ name: string; bytes: number }>(
    `select relname as name, sum(record_length)::float8 as bytes
      from pg_get_wal_block_info('${before.lsn}', '${after.lsn}')
      join pg_class using (relfilenode) join pg_index on indexrelid = pg_class.oid
      where block_id = 0 and reldatabase = (select oid from pg_database where datname = current_database())
        and indrelid = 'event_rows'::regclass
      group by 1 order by 2 desc`,
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes / events]));
}

/** Returns a row of figures with three digits, which is more than they are exact to. */
function rounded<Row extends object>(row: Row): Row {
  const round = (value: number) =>
    Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value]),
  ) as Row;
}
