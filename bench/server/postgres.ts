import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { load } from './load.ts';

/** Durable ingest through processes that share one PostgreSQL. */
export interface SharedIngestResult {
  readonly processes: number;
  readonly sessions: string;
  readonly eventsPerSecond: number;
  /** The limit is 50. */
  readonly p99Ms: number;
  /** Statements of any kind per event: each is a round trip. */
  readonly statementsPerEvent: number;
  /** Events per commit. */
  readonly eventsPerCommit: number;
  /** Processor time of the server processes per event, in microseconds. */
  readonly cpuMicros: number;
  /** Bytes of the database, including indexes, and of the write-ahead log, per event. */
  readonly storedBytes: number;
  readonly walBytes: number;
  /** Share of the samples in which a busy connection waited for a lock of another. */
  readonly lockWaits: number;
  readonly deadlocks: number;
  /** Acknowledged events that are not stored exactly once: must be 0. */
  readonly lostOrDoubled: number;
}

/** Server without the log, which `npm run bench -- server log` measures. */
const withoutLog = { settings: { keepLog: false } };

/** Settings: durable as by default, and with statistics of statements. */
const settings = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=1000'];

/** Connections to each process, so that each has the same load. */
const connections = 64;
const sessions = 50;

/** Milliseconds between samples of the connections' waits. */
const lookEveryMs = 25;

/** Measures one process, four with separate sessions, and four that all write to the same sessions. */
export async function measurePostgres(durationMs: number): Promise<SharedIngestResult[]> {
  const postgres = await LocalPostgres.create(settings);
  if (typeof postgres === 'string') {
    console.warn(`NOT TRIED on PostgreSQL: ${postgres}.`);
    return [];
  }
  try {
    await postgres.query('postgres', 'create role actlog login');
    const results: SharedIngestResult[] = [];
    for (const [processes, areShared] of [
      [1, false],
      [4, false],
      [4, true],
    ] as const) {
      results.push(await measure(postgres, processes, areShared, durationMs));
    }
    return results;
  } finally {
    await postgres.destroy();
  }
}

async function measure(
  postgres: LocalPostgres,
  processes: number,
  areShared: boolean,
  durationMs: number,
): Promise<SharedIngestResult> {
  const database = `bench_${processes}_${areShared}`;
  await postgres.query('postgres', `create database ${database} owner actlog`);
  await postgres.query(database, 'create extension pg_stat_statements');
  const servers: ChildServer[] = [];
  try {
    for (let index = 0; index < processes; index += 1) {
      servers.push(await ChildServer.start('actlog', postgres.url(database, 'actlog'), withoutLog));
    }
    const bodies = servers.map((_, index) => {
      const next = eventBodies(sessions);
      return () => (areShared ? next() : next().replace('"bench-session-', `"bench-session-${index}-`));
    });
    const run = (forMs: number) =>
      Promise.all(
        servers.map(({ url, apiKey }, index) =>
          load({
            url,
            apiKey,
            connections,
            durationMs: forMs,
            nextBody: bodies[index] as () => string,
          }),
        ),
      );
    const warm = await run(durationMs / 5);
    await postgres.query(database, 'select pg_stat_statements_reset()');
    const sizeBefore = await sizeOf(postgres, database);
    const cpuBefore = await cpuMicros(servers);
    const waits = new LockWaits(postgres, database);
    const loads = await run(durationMs);
    const lockWaits = await waits.end();
    const cpu = (await cpuMicros(servers)) - cpuBefore;
    const acknowledged = count(loads);
    const sizeAfter = await sizeOf(postgres, database);
    const [counted] = await postgres.query<{ statements: number; commits: number }>(
      database,
      `select sum(calls)::int as statements, sum(calls) filter (where query = 'commit')::int as commits
        from pg_stat_statements where userid = 'actlog'::regrole`,
    );
    const [stored] = await postgres.query<{ events: number; deadlocks: number }>(
      database,
      `select (select count(*)::int from events) as events, deadlocks::int from pg_stat_database where datname = current_database()`,
    );
    return {
      processes,
      sessions: areShared ? 'the same' : 'their own',
      eventsPerSecond: loads.reduce((sum, one) => sum + one.requestsPerSecond, 0),
      p99Ms: Math.max(...loads.map((one) => one.p99Ms)),
      statementsPerEvent: (counted?.statements ?? 0) / acknowledged,
      eventsPerCommit: acknowledged / (counted?.commits ?? 0),
      cpuMicros: cpu / acknowledged,
      storedBytes: (sizeAfter.stored - sizeBefore.stored) / acknowledged,
      walBytes: (sizeAfter.wal - sizeBefore.wal) / acknowledged,
      lockWaits,
      deadlocks: stored?.deadlocks ?? 0,
      lostOrDoubled: Math.abs(count(warm) + acknowledged - (stored?.events ?? 0)),
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

function count(loads: readonly { readonly requests: number; readonly refused: number }[]): number {
  return loads.reduce((sum, { requests, refused }) => sum + requests - refused, 0);
}

async function cpuMicros(servers: readonly ChildServer[]): Promise<number> {
  const usages = await Promise.all(servers.map((server) => server.usage()));
  return usages.reduce((sum, usage) => sum + usage.cpuMicros, 0);
}

/** Samples the waits of a database's connections. */
class LockWaits {
  readonly #looking: Promise<void>;
  #isOver = false;
  #busy = 0;
  #waiting = 0;

  constructor(postgres: LocalPostgres, database: string) {
    this.#looking = this.#look(postgres, database);
  }

  /** Returns the share of samples in which a busy connection waited for a lock. */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#looking;
    return this.#waiting / Math.max(1, this.#busy);
  }

  async #look(postgres: LocalPostgres, database: string): Promise<void> {
    while (!this.#isOver) {
      const [seen] = await postgres.query<{ busy: number; waiting: number }>(
        database,
        `select count(*)::int as busy, count(*) filter (where wait_event_type = 'Lock')::int as waiting
          from pg_stat_activity where usename = 'actlog' and state <> 'idle'`,
      );
      this.#busy += seen?.busy ?? 0;
      this.#waiting += seen?.waiting ?? 0;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}

async function sizeOf(postgres: LocalPostgres, database: string): Promise<{ stored: number; wal: number }> {
  const [size] = await postgres.query<{ stored: number; wal: number }>(
    database,
    `select pg_database_size(current_database())::float8 as stored,
      (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal`,
  );
  return size ?? { stored: 0, wal: 0 };
}
