import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a server's process has used. */
export interface Usage {
  /** Microseconds of processor time. */
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** A server in a process of its own, so that its use of the processor can be told from the load's. */
export class ChildServer {
  readonly url: string;
  readonly apiKey: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, apiKey: string) {
    this.#child = child;
    this.url = url;
    this.apiKey = apiKey;
  }

  /** Starts `bare`, or `actlog` on a database file. */
  static async start(kind: 'bare' | 'actlog', database?: string): Promise<ChildServer> {
    const file = fileURLToPath(import.meta.resolve('./target.ts'));
    const child = fork(file, [kind, ...(database === undefined ? [] : [database])], {
      // As `actlog-server` does for itself; without it some processes are slower than others, of either kind.
      execArgv: [...process.execArgv, '--no-allocation-site-pretenuring'],
    });
    const [ready] = (await once(child, 'message')) as [{ url: string; apiKey: string }];
    return new ChildServer(child, ready.url, ready.apiKey);
  }

  /** What the process has used so far. */
  async usage(): Promise<Usage> {
    const answer = once(this.#child, 'message');
    this.#child.send('usage');
    const [{ user, system, rss }] = (await answer) as [{ user: number; system: number; rss: number }];
    return { cpuMicros: user + system, rssBytes: rss };
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
