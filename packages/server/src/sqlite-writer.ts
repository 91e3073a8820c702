import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { EventGroup, RecordedGroups, Settled } from './ingest/event-recorder.ts';
import type { NewEvent } from './ingest/new-event.ts';
import type { SqliteConnectionOptions } from './storage/sqlite-connection.ts';
import type { ExecuteResult, SqliteExecutor } from './storage/sqlite-executor.ts';

/** What the writer's thread is asked. */
export type WriterRequest =
  | { readonly kind: 'execute'; readonly sql: string; readonly parameters: readonly unknown[] }
  /** `EventGroup[]` in JSON, which crosses to a thread at a fraction of what the copy of an object costs. */
  | { readonly kind: 'record'; readonly groupsJson: string }
  /** Scores sessions that wait for it, and these too. */
  | { readonly kind: 'settle'; readonly behind: readonly { tenant_id: number; id: string }[] }
  | { readonly kind: 'close' };

/** What it answers, to `record` in JSON too. An error is sent by its parts, because a copied error loses its result code. */
export type WriterAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly errcode: number | undefined } };

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Result code of SQLite for "cannot be opened": what a dead thread means for who wants to write. */
const cannotOpen = 14;

/**
 * The connection that writes, in a thread of its own: a commit waits for the disk, and the thread that answers
 * requests must not. Requests are done in the order in which they were made.
 */
export class SqliteWriter implements SqliteExecutor {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  #death: Error | undefined;

  constructor(options: SqliteConnectionOptions) {
    // A thread inherits the flags of Node; with the one for a program that is no file, it could not load its own.
    const isOfNoFile = process.execArgv.some((flag) => flag.startsWith('--input-type'));
    this.#worker = new Worker(threadFile(import.meta.url), {
      workerData: options,
      ...(isOfNoFile && { execArgv: process.execArgv.filter((flag) => flag.startsWith('--conditions=')) }),
    });
    this.#worker.on('message', (answer: WriterAnswer) => this.#settle(answer));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(new Error('it ended')));
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<ExecuteResult> {
    return this.#ask({ kind: 'execute', sql, parameters });
  }

  /** Records events in a transaction of their own; never call it while another is open. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    return JSON.parse(await this.#ask<string>({ kind: 'record', groupsJson: jsonOf(groups) }));
  }

  /** Scores sessions that wait for it, and those named; never call it while a transaction is open. */
  settle(behind: readonly { tenant_id: number; id: string }[]): Promise<Settled> {
    return this.#ask({ kind: 'settle', behind });
  }

  /** @throws Error when the thread has failed, so that nothing can be written before a restart. */
  requireAlive(): void {
    if (this.#death) throw this.#death;
  }

  /** Closes the connection and ends the thread. */
  async close(): Promise<void> {
    if (this.#death) return;
    await this.#ask({ kind: 'close' });
    this.#death = Object.assign(new Error('The database is closed.'), { errcode: cannotOpen });
    await this.#worker.terminate();
  }

  #ask<Result>(request: WriterRequest): Promise<Result> {
    if (this.#death) return Promise.reject(this.#death);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  #settle(answer: WriterAnswer): void {
    const pending = this.#pending.shift();
    if (!pending) return;
    if ('result' in answer) {
      pending.resolve(answer.result as never);
    } else {
      const { message, errcode } = answer.error;
      pending.reject(Object.assign(new Error(message), errcode !== undefined && { errcode }));
    }
  }

  /** A transaction that was open is lost with the thread, so nothing may be written after it without a restart. */
  #die(cause: Error): void {
    this.#death ??= Object.assign(
      new Error(`The database's thread has failed: ${cause.message}`, { cause }),
      {
        errcode: cannotOpen,
      },
    );
    for (const { reject } of this.#pending.splice(0)) reject(this.#death);
  }
}

/**
 * The file of the writer's thread: it stands beside this one, as a source and as built.
 *
 * @param address - of this file; that of a bundle is another, or there is none
 * @throws Error where it does not stand there
 */
export function threadFile(address: string | undefined): URL {
  const file = URL.parse(`./sqlite-worker.${address?.endsWith('.ts') ? 'ts' : 'js'}`, address);
  if (file && existsSync(file)) return file;
  throw new Error(
    'The thread that writes to a database file is a file of its own, which a bundle does not have: leave @actlog/server out of the bundle, as --external:@actlog/server does.',
  );
}

/** `EventGroup[]` in JSON, of the texts in which the events came: writing them anew costs more than all the rest. */
function jsonOf(groups: readonly EventGroup[]): string {
  const each = groups.map(
    ({ tenantId, events }) => `{"tenantId":${tenantId},"events":[${events.map(eventJson).join()}]}`,
  );
  return `[${each.join()}]`;
}

function eventJson({
  event,
  json = JSON.stringify(event),
  sourceMs,
  receivedMs,
  protoKeysRemoved,
}: NewEvent): string {
  return `{"event":${json},"sourceMs":${sourceMs},"receivedMs":${receivedMs},"protoKeysRemoved":${protoKeysRemoved}}`;
}
