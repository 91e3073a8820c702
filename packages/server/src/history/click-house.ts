import { hash } from 'node:crypto';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import * as z from 'zod';
import { ForwardError } from '../forward/destination.ts';
import type { EntryRanges } from '../storage/log/tenant-log.ts';

/** Address of a database of ClickHouse, with the user. */
export interface HistoryAddress {
  /** Origin, such as `https://clickhouse.example.com:8443`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

const form = 'must be an address such as https://user:password@clickhouse.example.com:8443/database';

/** Schema of the setting `history`: the address of a database. Its errors never contain the password. */
export const historySetting: z.ZodType<HistoryAddress, string> = z
  .string({ error: form })
  .transform((text, context) => {
    const url = URL.parse(text);
    const database = /^\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(url?.pathname ?? '')?.[1];
    const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
    const username = decoded(url?.username);
    const password = decoded(url?.password);
    const isAddress = url && isHttp && database !== undefined && !url.search && !url.hash;
    if (!isAddress || !username || password === undefined) {
      context.addIssue({ code: 'custom', message: form });
      return z.NEVER;
    }
    return { url: url.origin, username, password, database };
  });

/** Decodes a part of an address; `undefined` if its percent-encoding is invalid. */
function decoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** An event as a row of ClickHouse. Times are Unix milliseconds; a missing text is empty. */
export interface HistoryRow {
  readonly tenant_id: number;
  /** Place in the search: the order of a tenant's rows, before the id. */
  readonly place: number;
  readonly event_id: string;
  readonly session_id: string;
  readonly agent_id: string;
  readonly source_ms: number;
  readonly received_ms: number;
  /** Index of the event's entry in the tenant's log. */
  readonly log_index: number;
  readonly category: string;
  /** Name of the tool of a call. */
  readonly tool_name: string;
  /** Outcome of a call: `ok`, `error` or `denied`. */
  readonly outcome: string;
  readonly arguments_hash: string;
  readonly source_timestamp: string;
  readonly schema_version: string;
  /** Verified identity of the sender, as JSON. */
  readonly identity: string;
  readonly traceparent: string;
  /** JSON. */
  readonly payload: string;
}

/** A session that retention deletes from the database, as a row of ClickHouse. Times are Unix milliseconds. */
export interface HistorySessionRow {
  readonly tenant_id: number;
  readonly started_ms: number;
  readonly session_id: string;
  readonly agent_id: string;
  readonly agent_ids: readonly string[];
  readonly tool_names: readonly string[];
  readonly last_event_ms: number;
  readonly received_ms: number;
  readonly event_count: number;
  readonly error_count: number;
  /** -1 without a score, as lists by risk sort it. */
  readonly risk_score: number;
  readonly risk_level: string;
  /** The risk with all factors, as JSON. */
  readonly risk: string;
  /** Those of `errors`, `denied` and `held` that the session has. */
  readonly statuses: readonly string[];
  /** Index of the entry of its newest event in the tenant's log, with which the session is erased. */
  readonly log_index: number;
}

/** Names of the tables, which stand in queries as `{events}` and `{sessions}`. */
const tables = { events: 'actlog_events', sessions: 'actlog_sessions' } as const;

/** Returns a query with the names of the tables. */
function named(query: string): string {
  return query.replaceAll('{events}', tables.events).replaceAll('{sessions}', tables.sessions);
}

const tableNames = `('${Object.values(tables).join("', '")}')`;

/**
 * The table of events. Rows of one key are one event: `ReplacingMergeTree` keeps one of them when it merges, and reads skip the
 * others until then. The window of deduplication drops a repeated block before it is written. Partitions are weeks of
 * receipt, the unit in which retention drops events. An index finds the few granules with a session, which lie together
 * because the order is by time.
 */
const eventsSql = (deployment: string) => `
  create table if not exists ${tables.events} (
    tenant_id UInt64,
    place Int64 codec(Delta, ZSTD),
    event_id String codec(ZSTD),
    session_id String codec(ZSTD),
    agent_id LowCardinality(String),
    source_ms Int64 codec(Delta, ZSTD),
    received_ms Int64 codec(Delta, ZSTD),
    log_index UInt64 codec(Delta, ZSTD),
    category LowCardinality(String),
    tool_name LowCardinality(String),
    outcome LowCardinality(String),
    arguments_hash String codec(ZSTD),
    source_timestamp String codec(ZSTD),
    schema_version LowCardinality(String),
    identity String codec(ZSTD),
    traceparent String codec(ZSTD),
    payload String codec(ZSTD),
    index by_session session_id type bloom_filter granularity 1,
    index by_agent agent_id type bloom_filter granularity 1,
    index by_tool tool_name type bloom_filter granularity 1,
    index by_hash arguments_hash type bloom_filter granularity 1,
    index by_event event_id type bloom_filter granularity 1,
    index by_log log_index type minmax granularity 1
  )
  ${engineSql('place, event_id', deployment)}`;

const engineSql = (order: string, deployment: string) => `
  engine = ReplacingMergeTree
  partition by toMonday(fromUnixTimestamp64Milli(received_ms, 'UTC'))
  order by (tenant_id, ${order})
  settings non_replicated_deduplication_window = 10000
  comment 'actlog ${deployment}'`;

/** The table of sessions, in the order of lists. A session that retention has deleted several times has several rows. */
const sessionsSql = (deployment: string) => `
  create table if not exists ${tables.sessions} (
    tenant_id UInt64,
    started_ms Int64 codec(Delta, ZSTD),
    session_id String codec(ZSTD),
    agent_id LowCardinality(String),
    agent_ids Array(LowCardinality(String)),
    tool_names Array(LowCardinality(String)),
    last_event_ms Int64 codec(ZSTD),
    received_ms Int64 codec(ZSTD),
    event_count UInt64,
    error_count UInt64,
    risk_score Float64,
    risk_level LowCardinality(String),
    risk String codec(ZSTD),
    statuses Array(LowCardinality(String)),
    log_index UInt64 codec(ZSTD),
    index by_session session_id type bloom_filter granularity 1,
    index by_agent agent_ids type bloom_filter granularity 1,
    index by_tool tool_names type bloom_filter granularity 1,
    index by_log log_index type minmax granularity 1
  )
  ${engineSql('started_ms, session_id', deployment)}`;

/** Settings of inserts: one block is one part in each partition, written when the response arrives. */
const insertSettings: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  // The first blocks of a new history may reach back for years.
  max_partitions_per_insert_block: '0',
  wait_end_of_query: 1,
};

/** Time limit of a read, in seconds: within that of a request. */
const readSeconds = 15;

/** Maximum ranges in one condition: half of the 256 KiB of a query (`max_query_size`), whatever the indexes are. */
const rangesAtOnce = 2000;

/** Parameters of a query by name. */
export type QueryParameters = Readonly<
  Record<string, string | number | readonly string[] | readonly number[]>
>;

/** Options for {@link ClickHouse}. */
export interface ClickHouseOptions {
  readonly address: HistoryAddress;
  /** Returns the id of the deployment, which owns the table. */
  readonly deployment: () => Promise<string>;
}

/** The tables in a database of ClickHouse. Its client is loaded, and the tables created, with the first use. */
export class ClickHouse {
  readonly #options: ClickHouseOptions;
  #ready: Promise<ClickHouseClient> | undefined;

  constructor(options: ClickHouseOptions) {
    this.#options = options;
  }

  /**
   * Inserts a block of events. Within the window of deduplication, a block with the same token is inserted once.
   *
   * @throws ForwardError
   */
  async insert(rows: readonly HistoryRow[], token: string, abort: AbortSignal): Promise<void> {
    await this.#insert('events', rows, { insert_deduplication_token: token }, abort);
  }

  /** Inserts sessions. Of a session that is inserted again, the newer row counts. @throws ForwardError */
  async insertSessions(rows: readonly HistorySessionRow[]): Promise<void> {
    await this.#insert('sessions', rows);
  }

  async #insert(
    table: keyof typeof tables,
    rows: readonly object[],
    settings: ClickHouseSettings = {},
    abort?: AbortSignal,
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.#run((client) =>
      client.insert({
        table: tables[table],
        values: rows,
        format: 'JSONEachRow',
        ...(abort && { abort_signal: abort }),
        clickhouse_settings: { ...insertSettings, ...settings },
      }),
    );
  }

  /**
   * Returns rows. `{events}` and `{sessions}` stand for the tables.
   *
   * @throws ForwardError
   */
  rows<Row>(query: string, parameters: QueryParameters = {}): Promise<Row[]> {
    return this.#run(async (client) => {
      const result = await client.query({
        query: named(query),
        query_params: { ...parameters },
        format: 'JSONEachRow',
        clickhouse_settings: {
          output_format_json_quote_64bit_integers: 0,
          max_execution_time: readSeconds,
          // Otherwise a query that fails half way has a response of status 200, with the first rows.
          wait_end_of_query: 1,
        },
      });
      return result.json<Row>();
    });
  }

  /**
   * Deletes rows of both tables, and resolves when no row is left. Deleted rows are invisible at once, and leave the disk
   * with {@link applyDeletions}.
   *
   * @param condition - condition on columns that both tables have; `{name:Type}` stands for a parameter
   * @throws ForwardError when ClickHouse has not confirmed it
   */
  async erase(condition: string, parameters: QueryParameters = {}): Promise<void> {
    for (const table of Object.values(tables)) {
      const count = `select count() as count from ${table} where ${condition}`;
      const [before] = await this.rows<{ count: number }>(count, parameters);
      if (before?.count === 0) continue;
      await this.command(`delete from ${table} where ${condition}`, parameters);
      const [after] = await this.rows<{ count: number }>(count, parameters);
      if (after?.count !== 0) throw new ForwardError('busy', 'ClickHouse has not deleted all rows yet');
    }
  }

  /** Deletes the rows of entries in ranges of a tenant's log. */
  async eraseEntries(tenantId: number, ranges: EntryRanges): Promise<void> {
    for (let from = 0; from < ranges.length; from += rangesAtOnce) {
      const some = rangesCondition(ranges.slice(from, from + rangesAtOnce));
      await this.erase(`tenant_id = {tenant:UInt64} and (${some})`, { tenant: tenantId });
    }
  }

  /** Removes deleted rows from the disk. */
  async applyDeletions(): Promise<void> {
    const parts = await this.rows<{ table: string }>(
      `select distinct table from system.parts
       where database = currentDatabase() and table in ${tableNames} and active and has_lightweight_delete`,
    );
    for (const { table } of parts) await this.command(`alter table ${table} apply deleted mask`);
  }

  /** Deletes a partition of both tables. */
  async dropPartition(week: string): Promise<void> {
    for (const table of Object.values(tables)) {
      await this.command(`alter table ${table} drop partition '${week}'`);
    }
  }

  /** Runs a command, and waits for its mutations. */
  async command(query: string, parameters: QueryParameters = {}): Promise<void> {
    await this.#run((client) =>
      client.command({
        query: named(query),
        query_params: { ...parameters },
        clickhouse_settings: { lightweight_deletes_sync: '2', mutations_sync: '2', wait_end_of_query: 1 },
      }),
    );
  }

  /** Returns the names of the partitions: the Monday of each week, such as `2026-11-23`. */
  async partitions(): Promise<string[]> {
    const rows = await this.rows<{ partition: string }>(
      `select distinct partition from system.parts
       where database = currentDatabase() and table in ${tableNames} and active order by partition`,
    );
    return rows.map(({ partition }) => partition);
  }

  async close(): Promise<void> {
    const client = await this.#ready?.catch(() => undefined);
    await client?.close();
  }

  async #run<Result>(work: (client: ClickHouseClient) => Promise<Result>): Promise<Result> {
    try {
      this.#ready ??= this.#open();
      return await work(await this.#ready);
    } catch (error) {
      throw error instanceof ForwardError ? error : failureOf(this.#options.address, error);
    }
  }

  async #open(): Promise<ClickHouseClient> {
    const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
    const { address, deployment } = this.#options;
    const client = createClient({
      ...address,
      application: 'actlog',
      max_open_connections: 8,
      request_timeout: 120_000,
      // Errors are reported where they are handled; those of the client quote queries.
      log: { level: ClickHouseLogLevel.OFF },
    });
    try {
      const id = await deployment();
      for (const query of [eventsSql(id), sessionsSql(id)]) await client.command({ query });
      const result = await client.query({
        query: `select distinct comment from system.tables where database = currentDatabase() and name in ${tableNames}`,
        format: 'JSONEachRow',
      });
      const comments = await result.json<{ comment: string }>();
      if (comments.length !== 1 || comments[0]?.comment !== `actlog ${id}`) {
        throw new ForwardError(
          'refused',
          `the database "${address.database}" of ClickHouse has the history of another deployment; use one of its own`,
        );
      }
      return client;
    } catch (error) {
      this.#ready = undefined;
      await client.close();
      throw error;
    }
  }
}

/** Maximum entries of a range that a condition lists one by one. */
const listedEntries = 4;

/** Returns a condition for entries in ranges. ClickHouse looks up a list in far less time than as many ranges. */
export function rangesCondition(ranges: EntryRanges): string {
  const listed: number[] = [];
  const conditions: string[] = [];
  for (const [first, last] of ranges) {
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) throw new RangeError('Not an index.');
    if (last - first < listedEntries) for (let index = first; index <= last; index += 1) listed.push(index);
    else conditions.push(`log_index between ${first} and ${last}`);
  }
  if (listed.length > 0) conditions.push(`log_index in (${listed.join(', ')})`);
  return conditions.join(' or ');
}

/**
 * Returns the token of a block: its range, and a digest of the ids of its events, because the log of a restored backup has
 * other events at the same indexes.
 */
export function blockToken(
  tenantId: number,
  first: number,
  last: number,
  rows: readonly HistoryRow[],
): string {
  const ids = rows.map(({ event_id: id }) => id).join('\n');
  return `${tenantId}:${first}-${last}:${hash('sha256', ids).slice(0, 32)}`;
}

/** Codes of errors of ClickHouse that a user without rights, or with a wrong password, receives. */
const refusedCodes: readonly string[] = ['81', '192', '193', '194', '497', '516'];

function failureOf({ url }: HistoryAddress, cause: unknown): ForwardError {
  const { host } = new URL(url);
  const { code, type } = cause as { readonly code?: string; readonly type?: string };
  // The message of an error of ClickHouse may quote a row.
  if (type !== undefined && code !== undefined && /^\d+$/.test(code)) {
    const reason = refusedCodes.includes(code) ? 'refused' : 'busy';
    return new ForwardError(reason, `${host} responded with error ${code} (${type})`, 0, { cause });
  }
  const name = code ?? (cause as Error).name;
  return new ForwardError('unreachable', `${host} cannot be reached: ${name}`, 0, { cause });
}
