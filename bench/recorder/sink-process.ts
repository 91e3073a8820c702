import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Fault, SinkCommand, SinkReport } from './sink.ts';

/** Client of the sink process. */
export class SinkProcess {
  readonly #child: ChildProcess;
  #port = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts a sink and waits until it listens. */
  static async start(): Promise<SinkProcess> {
    const sink = new SinkProcess(fork(join(import.meta.dirname, 'sink.ts'), [], { execArgv: [] }));
    await once(sink.#child, 'message');
    sink.#port = (await sink.#ask({ ask: 'port' })).port;
    return sink;
  }

  /** URL of the sink; it stays the same after an outage. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Stops listening and breaks every connection. */
  async down(): Promise<void> {
    await this.#ask({ ask: 'down' });
  }

  /** Listens again. */
  async up(): Promise<void> {
    await this.#ask({ ask: 'up' });
  }

  /** Begins or ends a fault. */
  async fail(fault: Fault): Promise<void> {
    await this.#ask({ ask: 'fault', fault });
  }

  /** Resets the sink and ends any fault. */
  async forget(): Promise<void> {
    await this.#ask({ ask: 'forget' });
  }

  /** Returns everything that has arrived. */
  report(): Promise<SinkReport> {
    return this.#ask({ ask: 'arrived' });
  }

  /** Ends the process. */
  stop(): void {
    this.#child.disconnect();
  }

  async #ask(command: SinkCommand): Promise<SinkReport> {
    const answer = once(this.#child, 'message');
    this.#child.send(command);
    const [report] = (await answer) as [SinkReport];
    return report;
  }
}
