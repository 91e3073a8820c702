import { Worker } from 'node:worker_threads';
import type {
  CachedRecording,
  EventGroup,
  NewEvent,
  RecordedGroups,
  ScoringBacklog,
} from '../event-recording.ts';
import type { Appended, AppendOptions } from '../log/tenant-log.ts';
import type { ExecuteResult, SqliteExecutor } from './sqlite-connection.ts';

/** The thread of a writer. */
export interface WriterThread {
  /** Module that the thread runs. */
  readonly file: URL;
  /** Data for the thread; it can be cloned. */
  readonly data: unknown;
}

/** Request to the writer thread. */
export type WriterRequest =
  | { readonly kind: 'execute'; readonly sql: string; readonly parameters: readonly unknown[] }
  /** `EventGroup[]` as JSON, which is much cheaper to transfer to a thread than objects. */
  | { readonly kind: 'record'; readonly groupsJson: string }
  /** Scores sessions with unscored events, and the given ones. */
  | { readonly kind: 'score'; readonly behind: readonly { tenant_id: number; id: string }[] }
  | { readonly kind: 'log'; readonly tenantId: number; readonly options: AppendOptions }
  | { readonly kind: 'close' };

/**
 * Response of the writer thread; JSON for `record`. An error is sent in parts, because cloning drops its result code.
 */
export type WriterResponse =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly errcode: number | undefined } };

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Result code of SQLite for "cannot be opened", used for all writes after the thread has died. */
const cannotOpen = 14;

/**
 * The writing connection, in a separate thread, because a commit waits for the disk and the main thread must not. Requests
 * are processed in order.
 */
export class SqliteWriter implements SqliteExecutor, Omit<CachedRecording, 'forget'> {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  #failure: Error | undefined;

  constructor({ file, data }: WriterThread) {
    // A thread inherits Node's flags, and cannot load its file with the flag for a program from standard input.
    const isFromInput = process.execArgv.some((flag) => flag.startsWith('--input-type'));
    this.#worker = new Worker(file, {
      workerData: data,
      ...(isFromInput && { execArgv: process.execArgv.filter((flag) => flag.startsWith('--conditions=')) }),
    });
    this.#worker.on('message', (response: WriterResponse) => this.#resolveNext(response));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('it exited')));
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<ExecuteResult> {
    return this.#request({ kind: 'execute', sql, parameters });
  }

  /** Records events in a separate transaction. Never call it while another transaction is open. */
  async record(groups: readonly EventGroup[]): Promise<RecordedGroups> {
    return JSON.parse(await this.#request<string>({ kind: 'record', groupsJson: jsonOf(groups) }));
  }

  /** Scores sessions with unscored events, and the given ones. Never call it while a transaction is open. */
  scoreSessions(behind: readonly { tenant_id: number; id: string }[]): Promise<ScoringBacklog> {
    return this.#request({ kind: 'score', behind });
  }

  /** Appends to a log in a separate transaction. Never call it while a transaction is open. */
  appendToLog(tenantId: number, options: AppendOptions): Promise<Appended | undefined> {
    return this.#request({ kind: 'log', tenantId, options });
  }

  /** @throws Error when the thread has died, so that nothing can be written before a restart. */
  assertAlive(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Closes the connection and ends the thread. */
  async close(): Promise<void> {
    if (this.#failure) return;
    await this.#request({ kind: 'close' });
    this.#failure = Object.assign(new Error('The database is closed.'), { errcode: cannotOpen });
    await this.#worker.terminate();
  }

  #request<Result>(request: WriterRequest): Promise<Result> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  #resolveNext(response: WriterResponse): void {
    const pending = this.#pending.shift();
    if (!pending) return;
    if ('result' in response) {
      pending.resolve(response.result as never);
    } else {
      const { message, errcode } = response.error;
      pending.reject(Object.assign(new Error(message), errcode !== undefined && { errcode }));
    }
  }

  /** Rejects all requests from now on. An open transaction died with the thread, so no write may follow it. */
  #fail(cause: Error): void {
    this.#failure ??= Object.assign(
      new Error(`The database's thread has failed: ${cause.message}`, { cause }),
      {
        errcode: cannotOpen,
      },
    );
    for (const { reject } of this.#pending.splice(0)) reject(this.#failure);
  }
}

/** Returns groups as JSON, built from the received JSON, because serializing events again costs more than all the rest. */
function jsonOf(groups: readonly EventGroup[]): string {
  const each = groups.map(
    ({ tenantId, events }) => `{"tenantId":${tenantId},"events":[${events.map(eventJson).join()}]}`,
  );
  return `[${each.join()}]`;
}

function eventJson({ event, json = JSON.stringify(event), ...fields }: NewEvent): string {
  return `{"event":${json},${JSON.stringify(fields).slice(1)}`;
}
