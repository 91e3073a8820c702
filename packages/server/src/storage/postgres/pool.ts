import type { PostgresPool as KyselyPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { PostgresClient } from './client.ts';
import { connectError, isPlanOutdated, isReadOnly, postgresError } from './postgres-error.ts';

/** How connections are made. */
export interface PoolOptions {
  /** `postgres://…`, with every parameter that it may carry, such as `sslmode` and `statement_timeout`. */
  readonly url: string;
  /** Connections at once. */
  readonly connections: number;
  /** Whether to wait for an answer as long as it takes. */
  readonly isPatient?: boolean;
}

/** Milliseconds until a connection, a statement, a lock and an idle transaction are given up. */
const timeouts = {
  connectionTimeoutMillis: 5000,
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
};

/** Milliseconds after the end of a statement's time in which the database may say so, before it counts as gone. */
const answerGraceMs = 5000;

/** Statements that a connection keeps prepared, and parameters beyond which a statement is not worth keeping. */
const keptStatements = 300;
const keptParameters = 16;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => safeInteger(text));

/** PostgreSQL's 64-bit integers as numbers: everything that is counted here stays far below their bound. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`The database holds ${text}, which is beyond the integers that are exact.`);
}

/** Text of PostgreSQL cannot hold U+0000, which a comment may; it is kept as the character for what has no other. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value;
}

/** @throws TypeError for a time in the address that has a unit: the driver would take 30s for 30 milliseconds. */
function requireMilliseconds(url: string): void {
  for (const [, name, time] of url.matchAll(/[?&](\w+_timeout)=([^&]*)/g)) {
    if (/^\d+$/.test(time as string)) continue;
    throw new TypeError(
      `The parameter "${name}" of the database's address must be a whole number of milliseconds without a unit, such as 30000.`,
    );
  }
}

/** The time of a statement, from the address or as it is without; 0 for no end. */
function statementTimeoutMs(url: string): number {
  const [, given] = /[?&]statement_timeout=(\d+)/.exec(url) ?? [];
  return given === undefined ? timeouts.statement_timeout : Number(given);
}

/** What both the pool and the connection that listens are made with. The address may set the timeouts itself. */
export function clientConfig(url: string): pg.ClientConfig {
  requireMilliseconds(url);
  const statementMs = statementTimeoutMs(url);
  return {
    ...timeouts,
    ...(statementMs > 0 && { query_timeout: statementMs + answerGraceMs }),
    connectionString: url,
    application_name: 'actlog',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

/** The pool of `pg` as Kysely uses it, with prepared statements, and errors that may be shown. */
export class PostgresPool implements KyselyPool {
  /** What Kysely would make a connection of its own with, to cancel a statement; none is ever cancelled here. */
  readonly options: object = {};
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  /** Names that were given so far: none is given twice, because a connection keeps what it has prepared. */
  #named = 0;

  constructor({ url, connections, isPatient = false }: PoolOptions) {
    this.#pool = new pg.Pool({
      ...clientConfig(url),
      Client: PostgresClient,
      ...(isPatient && { query_timeout: 0 }),
      max: connections,
      idleTimeoutMillis: 60_000,
    });
    // An idle connection that breaks is taken out by the pool; who needs one next gets a new one.
    this.#pool.on('error', () => {});
    // Between the pool and who asked for it nobody listens to a connection, and an error then would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#connected();
    let isBroken = false;
    const onError = (): void => {
      isBroken = true;
    };
    client.on('error', onError);
    const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
      try {
        const result = await client.query(this.#query(text, values));
        return result as unknown as PostgresQueryResult<unknown>;
      } catch (error) {
        const { severity } = error as { severity?: string };
        // Without an answer of the server nobody knows what state the connection is in.
        if (severity === undefined || severity === 'FATAL' || text === 'rollback') isBroken = true;
        const shown = postgresError(error);
        // After a failover the address leads elsewhere, while connections to what is a standby now stay there.
        if (isReadOnly(shown)) isBroken = true;
        // On no connection is a statement used again that was prepared before the tables changed.
        if (isPlanOutdated(shown)) this.#names.clear();
        throw shown;
      }
    };
    const release = (discard?: boolean): void => {
      client.off('error', onError);
      client.release(isBroken || discard === true);
    };
    return { query, release } as PostgresPoolClient;
  }

  async #connected(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw connectError(error);
    }
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /** A statement with parameters is prepared once a connection; one without is sent as it is. */
  #query(text: string, values: readonly unknown[]): pg.QueryConfig {
    if (values.length === 0) return { text };
    let name = this.#names.get(text);
    if (name === undefined && values.length <= keptParameters && this.#names.size < keptStatements) {
      name = `actlog_${this.#named++}`;
      this.#names.set(text, name);
    }
    return { text, values: values.map(storable), ...(name !== undefined && { name }) };
  }
}
