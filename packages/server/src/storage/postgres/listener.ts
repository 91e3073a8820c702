import type pg from 'pg';
import { notificationChannel } from '../notification.ts';
import { PostgresClient } from './client.ts';
import { clientConfig } from './pool.ts';
import { connectError } from './postgres-error.ts';

/** Delay before a lost connection is opened again, in milliseconds: doubles from the first to the last. */
const firstRetryMs = 100;
const lastRetryMs = 5000;

/** Timeout for the `listen` statement, in milliseconds. A pooler without a free connection leaves it unanswered. */
const listenTimeoutMs = 5000;

type OnChange = (actionId: string | undefined) => void;

/**
 * The connection on which this process receives notifications of commits by other processes. It opens with the first
 * watcher and reopens whenever it breaks. After each opening every watcher is notified, to cover missed notifications.
 */
export class PostgresListener {
  readonly #url: string;
  readonly #watchers = new Set<OnChange>();
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #isClosed = false;
  /** Error of the last attempt to connect; `undefined` if it succeeded. */
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

  /** @throws Error when the last attempt to connect failed, so no notifications arrive. */
  assertListening(): void {
    if (this.#failure === undefined) return;
    const { message } = connectError(this.#failure) as Error;
    throw new Error(
      `The connection for notifications of other servers' decisions cannot be opened (${message}), so waiting checks see these only when their wait ends. PostgreSQL, and any pooler before it, must allow databaseConnections + 1 connections per server.`,
    );
  }

  /** Closes the connection permanently. */
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
    client.on('notification', ({ payload }) => this.#notify(payload === '' ? undefined : payload));
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
    // Notifications of commits made before the connection listened were missed.
    this.#notify(undefined);
  }

  #notify(actionId: string | undefined): void {
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
