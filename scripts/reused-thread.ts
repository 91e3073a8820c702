import { EventEmitter } from 'node:events';
import { MessageChannel, Worker as Thread } from 'node:worker_threads';

const idle: Thread[] = [];

/**
 * In tests, the thread of an SQLite file: like a `Worker` whose thread goes on to the next database once one is closed,
 * because each start of a thread takes a quarter of a second of processor time.
 */
export class Worker extends EventEmitter {
  readonly #thread: Thread;
  readonly #port;
  readonly #failed = (error: unknown) => this.emit('error', error);
  readonly #exited = () => this.emit('exit');

  constructor(file: URL, { workerData: data }: { readonly workerData: unknown }) {
    super();
    this.#thread = idle.pop() ?? new Thread(file);
    this.#thread.ref();
    this.#thread.on('error', this.#failed).on('exit', this.#exited);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1.on('message', (message) => this.emit('message', message));
    this.#thread.postMessage({ port: port2, data }, [port2]);
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  /** Only called when the database is closed. */
  async terminate(): Promise<void> {
    this.#port.close();
    this.#thread.off('error', this.#failed).off('exit', this.#exited);
    this.#thread.unref();
    idle.push(this.#thread);
  }
}
