import type pg from 'pg';
import { notificationChannel } from '../notification.ts';
import { PostgresClient } from './client.ts';
import { clientConfig } from './pool.ts';
import { connectError } from './postgres-error.ts';

/** Milliseconds until a lost connection is made again: soon at first, then less often. */
const firstRetryMs = 100;
const lastRetryMs = 5000;

/** Milliseconds for the answer that the connection listens: a pooler that has none left makes who asks wait. */
const listenTimeoutMs = 5000;

type OnChange = (actionId: string | undefined) => void;

/**
 * The connection on which this process hears what others have committed. It is made when someone first waits, and
 * made again whenever it breaks; what was missed meanwhile is made up for by telling everyone to look.
 */
export class PostgresListener {
  readonly #url: string;
  readonly #watchers = new Set<OnChange>();
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #isClosed = false;
  /** Why the connection could not be made at the last attempt; undefined where it was made. */
  #failure: unknown;

  constructor(url: string) {
    this.#url = url;
  }

  /** Calls `onChange` for every notification, until the returned function is called. */
  watch(onChange: OnChange): () => void {
    this.#watchers.add(onChange);
    if (!this.#client && !this.#retry) void this.#connect();
    return () => this.#watchers.delete(onChange);
  }

  /** @throws Error when the connection cannot be made, so that nothing is heard. */
  requireHearing(): void {
    if (this.#failure === undefined) return;
    const { message } = connectError(this.#failure) as Error;
    throw new Error(
      `The connection on which this server hears of decisions that others take cannot be made (${message}), so a check that waits gets them only at the end of its wait. PostgreSQL, and a pooler before it, must have room for databaseConnections and one more of every server.`,
    );
  }

  /** Ends the connection for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    this.#retry = undefined;
    const client = new PostgresClient({
      ...clientConfig(this.#url),
      application_name: 'actlog listener',
      query_timeout: listenTimeoutMs,
    });
    this.#client = client;
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    client.on('notification', ({ payload }) => this.#tell(payload === '' ? undefined : payload));
    try {
      await client.connect();
      await client.query(`listen ${notificationChannel}`);
    } catch (error) {
      this.#failure = error;
      this.#lose(client);
      return;
    }
    this.#failure = undefined;
    this.#retryMs = firstRetryMs;
    // What was committed before the connection listened was told to nobody.
    this.#tell(undefined);
  }

  #tell(actionId: string | undefined): void {
    for (const onChange of [...this.#watchers]) onChange(actionId);
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#retry = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retry.unref();
    this.#retryMs = Math.min(lastRetryMs, this.#retryMs * 2);
  }
}
