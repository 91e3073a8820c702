import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { openStorage } from '../../packages/server/src/open-storage.ts';
import type { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { load } from './load.ts';
import { postgresMicros } from './postgres.ts';
import { largeSession, type Seeds, seededDays } from './seed.ts';

/** Cost of the deletion by retention, for each deleted event with its part of its session, the log and the search. */
export interface RetentionCosts {
  readonly events: number;
  readonly deleted: number;
  readonly seconds: number;
  /** Processor time of the server, which on SQLite has the database in it, and of PostgreSQL. */
  readonly serverMicros: number;
  readonly postgresMicros?: number;
  /** Bytes of the write-ahead log on PostgreSQL; bytes that the server wrote to files on SQLite. */
  readonly writtenBytes: number;
  readonly statements?: number;
  /** Pages of tables and indexes that the statements touched; PostgreSQL only. */
  readonly pages?: number;
  /** Size of the database before and after, and what the deletion left for later events to use, in megabytes. */
  readonly megabytesBefore: number;
  readonly megabytesAfter: number;
  readonly reusableMegabytes: number;
  /** Bytes that stay for each deleted event: its place in the list of deletions. */
  readonly deletionBytes: number;
}

/** Response times beside ingest, in milliseconds, without a deletion and while one runs. */
export interface BesideRetention {
  readonly checkP50Ms: number;
  readonly checkP99Ms: number;
  readonly checkMaxMs: number;
  readonly ingestP50Ms: number;
  readonly ingestP99Ms: number;
  readonly eventsPerSecond: number;
  /** Events that were deleted a second. */
  readonly deletedPerSecond: number;
  readonly seconds: number;
}

/** Results for one kind of database. */
export interface RetentionResult {
  readonly costs: RetentionCosts;
  readonly beside: Readonly<
    Record<'alone' | 'while retention deletes' | 'while it deletes a long session', BesideRetention>
  >;
  /** Milliseconds from the start of the server's process until it responds. */
  readonly startMs: number;
  /** Seconds of a backup beside the server; SQLite only. */
  readonly backupSeconds?: number;
}

/** Callers of ingest and of checks meanwhile. */
const callers = { ingest: 8, check: 2 };

/** Milliseconds of a measurement without the deletion. */
const aloneMs = 8000;

/** Options for {@link measureRetention}. */
export interface RetentionOptions {
  readonly events: number;
  readonly kind: 'sqlite' | 'postgres';
}

/**
 * Measures the deletion of a fiftieth of the events by retention alone, and of a hundredth beside ingest and checks, on a
 * copy of a seeded database.
 */
export async function measureRetention(
  seeds: Seeds,
  { events, kind }: RetentionOptions,
): Promise<RetentionResult> {
  const seeded = kind === 'sqlite' ? await seeds.sqlite(events) : await seeds.database(events);
  const copy = await seeds.copy(seeded);
  const database =
    kind === 'sqlite' ? new SqliteCopy(copy) : await PostgresCopy.open(await seeds.postgres(), copy);
  const startedMs = performance.now();
  const server = await ChildServer.start('actlog', database.address);
  try {
    const startMs = Math.round(performance.now() - startedMs);
    // The start itself writes some, and the first cleanup deletes counts of another age.
    await server.cleanUp();
    await database.run(retentionOf(seededDays - 2));
    const costs = await measureCosts(server, database, events);
    await load({ ...loadOf(server), connections: callers.ingest, durationMs: 2000 });
    const alone = await measureBeside(server, database, setTimeout(aloneMs));
    await database.run(retentionOf(seededDays - 3));
    const beside = await measureBeside(server, database, server.cleanUp());
    // Alone it has a tenth of the events.
    await database.run(`update sessions set received_ms = 1 where id = '${largeSession}'`);
    const besideLong = await measureBeside(server, database, server.cleanUp());
    const backupSeconds = kind === 'sqlite' ? await secondsOfBackup(copy) : undefined;
    return {
      startMs,
      costs,
      beside: {
        alone,
        'while retention deletes': beside,
        'while it deletes a long session': besideLong,
      },
      ...(backupSeconds !== undefined && { backupSeconds }),
    };
  } finally {
    await server.stop();
    await database.close();
    await seeds.drop(copy);
  }
}

/** Copies a file as `actlog backup` does, in a process of its own. */
async function secondsOfBackup(file: string): Promise<number> {
  const to = `${file}.backup`;
  const startedMs = performance.now();
  try {
    const storage = await openStorage({ database: file });
    await storage.backup(to);
    await storage.close();
    return Math.round((performance.now() - startedMs) / 100) / 10;
  } finally {
    rmSync(to, { force: true });
  }
}

async function measureCosts(
  server: ChildServer,
  database: SqliteCopy | PostgresCopy,
  events: number,
): Promise<RetentionCosts> {
  const reusableBefore = await database.reusableBytes();
  const before = { ...(await database.counts(server)), ...(await server.usage()) };
  const startedMs = performance.now();
  await server.cleanUp();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = { ...(await database.counts(server)), ...(await server.usage()) };
  const deleted = before.events - after.events;
  const each = (count: keyof typeof before) => ((after[count] ?? 0) - (before[count] ?? 0)) / deleted;
  const rounded = (value: number) => Number(value.toPrecision(3));
  return {
    events,
    deleted,
    seconds: rounded(seconds),
    serverMicros: rounded(each('cpuMicros')),
    ...(before.statements !== undefined && {
      postgresMicros: rounded(each('postgresMicros')),
      statements: rounded(each('statements')),
      pages: rounded(each('pages')),
    }),
    writtenBytes: rounded(each('writtenBytes')),
    megabytesBefore: Math.round(before.bytes / 1e6),
    megabytesAfter: Math.round(after.bytes / 1e6),
    reusableMegabytes: Math.round(((await database.reusableBytes()) - reusableBefore) / 1e6),
    deletionBytes: rounded(each('deletionBytes')),
  };
}

const nextEvent = eventBodies(50);
let checks = 0;

function nextCheck(): string {
  checks += 1;
  const action = { toolName: 'search_documents_1', argumentsHash: `sha256:${'9f'.repeat(32)}` };
  return JSON.stringify({ agentId: 'agent-1', sessionId: `bench-session-${checks % 50}`, action });
}

function loadOf({ url, apiKey }: ChildServer) {
  return { url, apiKey, nextBody: nextEvent };
}

/** Measures ingest and checks until something has ended. */
async function measureBeside(
  server: ChildServer,
  database: SqliteCopy | PostgresCopy,
  until: Promise<unknown>,
): Promise<BesideRetention> {
  const eventsBefore = (await database.counts(server)).events;
  const startedMs = performance.now();
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  const isDone = () => isOver;
  const [ingest, check] = await Promise.all([
    load({ ...loadOf(server), connections: callers.ingest, isDone }),
    load({
      ...loadOf(server),
      path: '/v1/policies/check',
      nextBody: nextCheck,
      connections: callers.check,
      isDone,
    }),
    until,
  ]);
  const seconds = (performance.now() - startedMs) / 1000;
  const deleted = eventsBefore + ingest.requests - (await database.counts(server)).events;
  const refused = ingest.refused + check.refused;
  if (refused > 0) throw new Error(`${refused} requests were refused.`);
  const rounded = (ms: number) => Number(ms.toFixed(1));
  return {
    checkP50Ms: rounded(check.p50Ms),
    checkP99Ms: rounded(check.p99Ms),
    checkMaxMs: rounded(check.maxMs),
    ingestP50Ms: rounded(ingest.p50Ms),
    ingestP99Ms: rounded(ingest.p99Ms),
    eventsPerSecond: Math.round(ingest.requestsPerSecond),
    deletedPerSecond: Math.round(deleted / seconds),
    seconds: Math.round(seconds),
  };
}

/** Counts of a database at one time. */
interface Counts {
  readonly events: number;
  readonly bytes: number;
  readonly writtenBytes: number;
  readonly deletionBytes: number;
  /** Only of PostgreSQL. */
  readonly statements?: number;
  readonly pages?: number;
  readonly postgresMicros?: number;
}

const sizesOfSessions =
  'select (select sum(event_count) from sessions) + (select coalesce(sum(last_arrival), 0) from dropped_sessions) as events';

const retentionOf = (days: number) => `update tenants set retention = '{"sessions":${days}}'`;

/** A copy of an SQLite file, beside its server. */
class SqliteCopy {
  readonly address: string;
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.address = file;
    this.#database = new DatabaseSync(file, { timeout: 30_000 });
  }

  #number(query: string): number {
    return Number(Object.values(this.#database.prepare(query).get() ?? {})[0]);
  }

  async run(statement: string): Promise<void> {
    this.#database.exec(statement);
  }

  async counts(server: ChildServer): Promise<Counts> {
    return {
      events: this.#number(sizesOfSessions),
      bytes: statSync(this.address).size,
      writtenBytes: server.writtenBytes(),
      deletionBytes: this.#number('select coalesce(sum(length(record)), 0) from log_deletions'),
    };
  }

  async reusableBytes(): Promise<number> {
    return this.#number('pragma freelist_count') * this.#number('pragma page_size');
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

type Client = Awaited<ReturnType<LocalPostgres['connect']>>;

/** A copy of a PostgreSQL database, with a connection of the superuser. */
class PostgresCopy {
  readonly address: string;
  readonly #postgres: LocalPostgres;
  readonly #client: Client;
  readonly #pid: number;

  private constructor(postgres: LocalPostgres, database: string, client: Client, pid: number) {
    this.address = postgres.url(database, 'actlog');
    this.#postgres = postgres;
    this.#client = client;
    this.#pid = pid;
  }

  static async open(postgres: LocalPostgres, database: string): Promise<PostgresCopy> {
    const client = await postgres.connect(database);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await client.query('create extension if not exists pg_stat_statements');
    await client.query('create extension if not exists pg_freespacemap');
    return new PostgresCopy(postgres, database, client, rows[0]?.pid ?? 0);
  }

  async #row<Row extends object>(query: string): Promise<Row> {
    return (await this.#client.query<Row>(query)).rows[0] as Row;
  }

  async run(statement: string): Promise<void> {
    await this.#client.query(statement);
  }

  async counts(): Promise<Counts> {
    const micros = postgresMicros(this.#postgres.pid, this.#pid);
    const stored = await this.#row<Counts>(
      `select (${sizesOfSessions})::float8 as events, pg_database_size(current_database())::float8 as bytes,
        (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as "writtenBytes",
        (select coalesce(sum(length(record)), 0)::float8 from log_deletions) as "deletionBytes",
        (select sum(calls)::float8 from pg_stat_statements where userid = 'actlog'::regrole) as statements,
        (select sum(shared_blks_hit + shared_blks_read)::float8 from pg_stat_statements where userid = 'actlog'::regrole)
          as pages`,
    );
    return { ...stored, postgresMicros: micros };
  }

  /** Returns the space that is free within tables and indexes, once autovacuum has looked for it. */
  async reusableBytes(): Promise<number> {
    await this.#client.query('vacuum');
    const { bytes } = await this.#row<{ bytes: number }>(
      `select sum(avail)::float8 as bytes from pg_class, pg_freespace(oid) where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
    );
    return bytes;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
