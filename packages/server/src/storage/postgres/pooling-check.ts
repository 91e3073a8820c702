import pg from 'pg';
import { clientConfig } from './pool.ts';
import { connectError, postgresError } from './postgres-error.ts';

/** Looks at which process answers: other servers may be given connections of the same pooler at the same moment. */
const looks = 5;

/** Milliseconds that a second connection is waited for, of which a pooler may have none left. */
const secondConnectionMs = 5000;

/**
 * Makes sure that a connection stays the same for as long as it is open. Behind a pooler that lends one for a
 * transaction at a time, the server would never hear what other servers commit, and would meet prepared statements
 * of others.
 *
 * @throws Error when a pooler lends connections so.
 */
export async function checkPooling(url: string): Promise<void> {
  const first = await connected(url, 0);
  try {
    const pid = await processOf(first);
    // A pooler makes up the number that a client has from it, because it has no process of its own yet.
    if (pid === (first as pg.Client & { processID: number | null }).processID) return;
    if (await isShared(url, first, pid)) throw new Error(lentByTransaction);
  } catch (error) {
    throw postgresError(error);
  } finally {
    await first.end().catch(() => {});
  }
}

const lentByTransaction =
  "The address of the database leads to a pooler that lends connections for a transaction at a time, which would keep the server from hearing other servers' decisions. Have it pool by session (PgBouncer: pool_mode = session), or give the server the address of PostgreSQL itself.";

/** Whether a second connection, in a transaction, gets the process of the first, or keeps the first from its own. */
async function isShared(url: string, first: pg.Client, pid: number): Promise<boolean> {
  const second = await connected(url, secondConnectionMs);
  try {
    for (let look = 0; look < looks; look += 1) {
      await second.query('begin');
      if ((await processOf(second)) === pid || (await processOf(first)) !== pid) return true;
      await second.query('rollback');
    }
    return false;
  } catch (error) {
    const { severity } = error as { severity?: string };
    if (severity !== undefined) throw error;
    // A pooler that keeps the second one waiting keeps the first one for whom it was given to.
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
