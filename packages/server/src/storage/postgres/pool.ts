import type { PostgresPool as KyselyPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { withoutResult } from '../transaction.ts';
import { connectError, isPlanOutdated, isReadOnly, postgresError } from './postgres-error.ts';

/** Options for a {@link PostgresPool}. */
export interface PoolOptions {
  /** `postgres://…`, with any parameter of the driver, such as `sslmode` and `statement_timeout`. */
  readonly url: string;
  /** Maximum number of connections. */
  readonly connections: number;
  /** `true` to wait for each statement without a timeout on this side. */
  readonly waitsIndefinitely?: boolean;
}

/** Timeouts of a connection attempt, a statement, a lock and an idle transaction, in milliseconds. */
const timeouts = {
  connectionTimeoutMillis: 5000,
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
};

/**
 * Time after a statement's timeout within which the database may report it, in milliseconds. Later it counts as lost.
 */
const responseGraceMs = 5000;

/** Maximum statements that a connection keeps prepared, and maximum parameters of such a statement. */
const maxPreparedStatements = 300;
const maxPreparedParameters = 16;

/** Result of a statement that was sent without waiting for it. */
const nothing: PostgresQueryResult<unknown> = { command: 'INSERT', rowCount: 0, rows: [] };

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text: string) => safeInteger(text));

/** Parses PostgreSQL's 64-bit integers as numbers. All counts of the service stay far below the safe limit. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`The database contains the integer ${text}, which exceeds the safe range.`);
}

/** Replaces U+0000, which text in PostgreSQL cannot contain, with U+FFFD. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value;
}

/** @throws TypeError for a timeout with a unit in the address: the driver would read 30s as 30 milliseconds. */
function checkTimeouts(url: string): void {
  for (const [, name, time] of url.matchAll(/[?&](\w+_timeout)=([^&]*)/g)) {
    if (/^\d+$/.test(time as string)) continue;
    throw new TypeError(
      `The parameter "${name}" of the database's address must be a whole number of milliseconds without a unit, such as 30000.`,
    );
  }
}

/** Returns the statement timeout of the address, or the default; 0 for none. */
function statementTimeoutMs(url: string): number {
  const [, given] = /[?&]statement_timeout=(\d+)/.exec(url) ?? [];
  return given === undefined ? timeouts.statement_timeout : Number(given);
}

/** Returns the driver's options for the pool and the listener. Parameters of the address override the timeouts. */
export function clientConfig(url: string): pg.ClientConfig {
  checkTimeouts(url);
  const statementMs = statementTimeoutMs(url);
  return {
    ...timeouts,
    ...(statementMs > 0 && { query_timeout: statementMs + responseGraceMs }),
    connectionString: url,
    application_name: 'actlog',
    // Statements without a result are sent with the next one; see `withoutResult`.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

/** The pool of `pg` as Kysely uses it, with prepared statements and errors that are safe to show. */
export class PostgresPool implements KyselyPool {
  /** Kysely's options for a separate connection that cancels statements. Unused, because none is cancelled. */
  readonly options: object = {};
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  /** Statement names used so far. Names are never reused, because a connection keeps its prepared statements. */
  #nameCount = 0;

  constructor({ url, connections, waitsIndefinitely = false }: PoolOptions) {
    this.#pool = new pg.Pool({
      ...clientConfig(url),
      Client: PostgresClient,
      ...(waitsIndefinitely && { query_timeout: 0 }),
      max: connections,
      idleTimeoutMillis: 60_000,
    });
    // The pool removes an idle connection that breaks, and opens a new one when needed.
    this.#pool.on('error', () => {});
    // Covers the time between the pool and its caller, in which an unhandled error event would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#connected();
    let isBroken = false;
    const onError = (): void => {
      isBroken = true;
    };
    client.on('error', onError);
    const run = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
      try {
        const result = await client.query(this.#query(text, values));
        return result as unknown as PostgresQueryResult<unknown>;
      } catch (error) {
        const { severity } = error as { severity?: string };
        // An error without a severity did not come from the server, so the connection's state is unknown.
        if (severity === undefined || severity === 'FATAL' || text === 'rollback') isBroken = true;
        const reported = postgresError(error);
        // After a failover the address leads to the new primary; existing connections stay on the standby.
        if (isReadOnly(reported)) isBroken = true;
        // Statements prepared before the tables changed must not be used again, on any connection.
        if (isPlanOutdated(reported)) this.#names.clear();
        throw reported;
      }
    };
    let unawaited: Promise<unknown>[] = [];
    const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
      const result = run(text, values);
      if (text.startsWith(withoutResult)) {
        result.catch(() => {});
        unawaited.push(result);
        return nothing;
      }
      const before = unawaited;
      unawaited = [];
      if (before.length === 0) return result;
      const outcomes = await Promise.allSettled([...before, result]);
      const failed = outcomes.find(({ status }) => status === 'rejected');
      // The statements after a failed one only report that the transaction is aborted.
      if (failed && text !== 'rollback') throw (failed as PromiseRejectedResult).reason;
      return result;
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

  /** Prepares a statement with parameters once per connection. One without parameters is sent as it is. */
  #query(text: string, values: readonly unknown[]): pg.QueryConfig {
    if (values.length === 0) return { text };
    let name = this.#names.get(text);
    if (
      name === undefined &&
      values.length <= maxPreparedParameters &&
      this.#names.size < maxPreparedStatements
    ) {
      name = `actlog_${this.#nameCount++}`;
      this.#names.set(text, name);
    }
    return { text, values: values.map(storable), ...(name !== undefined && { name }) };
  }
}

/**
 * The driver's client, with errors of its constructor reported by `connect`. The driver reads the files that the
 * address names, such as `sslrootcert`, in the constructor, and throws when one is unreadable. The pool constructs
 * clients where nothing catches that, which would end the process. The next connection reads the files again.
 */
export class PostgresClient extends pg.Client {
  readonly #configError: Error | undefined;

  constructor(config: pg.ClientConfig = {}) {
    const configError = configErrorOf(config);
    super(configError ? {} : config);
    this.#configError = configError;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const configError = this.#configError;
    if (!callback) return configError ? Promise.reject(configError) : super.connect();
    if (configError) process.nextTick(callback, configError);
    else super.connect(callback);
    return undefined;
  }
}

function configErrorOf(config: pg.ClientConfig): Error | undefined {
  try {
    new pg.Client(config);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
