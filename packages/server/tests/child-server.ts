import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServerOptions } from '../src/index.ts';
import { withTestDatabase } from './test-database.ts';

/** A server in a separate process that a test can kill. */
export class ChildServer {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  /** Resolves when the server listens. `within` is a command that runs the given one, such as `nice`. */
  static async start(options: ServerOptions, within: readonly string[] = []): Promise<ChildServer> {
    const file = join(import.meta.dirname, 'child-server-main.ts');
    const flags = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
    const settings = JSON.stringify(await withTestDatabase(options));
    const [command = process.execPath, ...before] = [...within, process.execPath];
    const child = spawn(command, [...before, ...flags, file, settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const died = once(child, 'exit').then(() => {
      throw new Error('The server ended before it listened.');
    });
    const [url] = (await Promise.race([once(createInterface(child.stdout), 'line'), died])) as [string];
    died.catch(() => {});
    return new ChildServer(child, url);
  }

  /** Returns the path of a file in the server's mount namespace. */
  pathOf(file: string): string {
    return `/proc/${this.#process.pid}/root${file}`;
  }

  /** Kills the process without warning. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const disconnected = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await disconnected;
  }
}
