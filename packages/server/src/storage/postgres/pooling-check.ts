import pg from 'pg';
import { clientConfig } from './pool.ts';
import { connectError, postgresError } from './postgres-error.ts';

/** Number of probes. One is not enough, because other servers may use the same pooler at the same moment. */
const probes = 5;

/** Query timeout of the second connection, in milliseconds. A pooler may have no connection left for it. */
const secondConnectionMs = 5000;

/**
 * Checks that a connection keeps its PostgreSQL session for as long as it is open. Behind a pooler that pools by
 * transaction, the server would miss notifications and run into prepared statements of other servers.
 *
 * @throws Error when a pooler pools by transaction.
 */
export async function checkPooling(url: string): Promise<void> {
  const first = await connected(url, 0);
  try {
    const pid = await processOf(first);
    // A pooler reports a made-up process id to the client, so an equal one means a direct connection.
    if (pid === (first as pg.Client & { processID: number | null }).processID) return;
    if (await isShared(url, first, pid)) throw new Error(transactionPoolingMessage);
  } catch (error) {
    throw postgresError(error);
  } finally {
    await first.end().catch(() => {});
  }
}

const transactionPoolingMessage =
  "The address of the database leads to a pooler in transaction mode, with which the server would miss other servers' decisions. Set it to session mode (PgBouncer: pool_mode = session), or use the address of PostgreSQL itself.";

/** `true` if a second connection, in a transaction, gets the process of the first or displaces the first from it. */
async function isShared(url: string, first: pg.Client, pid: number): Promise<boolean> {
  const second = await connected(url, secondConnectionMs);
  try {
    for (let probe = 0; probe < probes; probe += 1) {
      await second.query('begin');
      if ((await processOf(second)) === pid || (await processOf(first)) !== pid) return true;
      await second.query('rollback');
    }
    return false;
  } catch (error) {
    const { severity } = error as { severity?: string };
    if (severity !== undefined) throw error;
    // A pooler that makes the second connection wait has left the first one where it was.
    return false;
  } finally {
    await second.end().catch(() => {});
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return (rows[0] as { pid: number }).pid;
}

async function connected(url: string, queryTimeoutMs: number): Promise<pg.Client> {
  try {
    const client = new pg.Client({ ...clientConfig(url), query_timeout: queryTimeoutMs });
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    throw connectError(error);
  }
}
