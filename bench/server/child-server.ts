import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Resources that a server process has used. */
export interface Usage {
  /** Microseconds of processor time. */
  readonly cpuMicros: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Open connections. */
  readonly sockets: number;
}

/** Options for a server process. */
export interface ChildServerOptions {
  /** Maximum heap in MiB. Default: Node's own. */
  readonly heapMegabytes?: number;
  /** Settings of the server beside its database. */
  readonly settings?: Record<string, unknown>;
}

/** A server process, so that its processor time can be separated from the load's. */
export class ChildServer {
  readonly url: string;
  readonly apiKey: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, apiKey: string) {
    this.#child = child;
    this.url = url;
    this.apiKey = apiKey;
  }

  /** Starts `bare`, or `actlog` or `unlogged` on a database file. */
  static async start(
    kind: 'bare' | 'actlog' | 'unlogged',
    database?: string,
    { heapMegabytes, settings = {} }: ChildServerOptions = {},
  ): Promise<ChildServer> {
    const file = fileURLToPath(import.meta.resolve('./target.ts'));
    const heap = heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`];
    const child = fork(file, [kind, database ?? ':memory:', JSON.stringify(settings)], {
      // The server's command sets the same; without it, some processes of either kind are slower than others.
      execArgv: [...process.execArgv, '--no-allocation-site-pretenuring', ...heap],
    });
    const [ready] = (await once(child, 'message')) as [{ url: string; apiKey: string }];
    return new ChildServer(child, ready.url, ready.apiKey);
  }

  /** `true` while the process runs. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the resources used so far. */
  async usage(): Promise<Usage> {
    const answer = once(this.#child, 'message');
    this.#child.send('usage');
    const [{ user, system, rss, heapUsed, sockets }] = (await answer) as [Record<string, number>];
    return {
      cpuMicros: Number(user) + Number(system),
      rssBytes: Number(rss),
      heapBytes: Number(heapUsed),
      sockets: Number(sockets),
    };
  }

  /** Deletes what is past retention, as the server does every ten minutes. */
  async cleanUp(): Promise<void> {
    const done = once(this.#child, 'message');
    this.#child.send('cleanup');
    await done;
  }

  /** Bytes that the process has written to files so far. */
  writtenBytes(): number {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${this.#child.pid}/io`, 'utf8'))?.[1]);
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
