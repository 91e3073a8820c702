import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command in a child process, as in a terminal. Its output is also printed here. */
export class ConsoleProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<unknown>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const program = fileURLToPath(import.meta.resolve('./approvals.ts'));
    this.#child = spawn(process.execPath, [...process.execArgv, program, ...args], { env });
    this.#ended = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on('line', (line) => {
        console.log(`  ${line}`);
        this.#lines.push(line);
        this.#child.emit('shown');
      });
    }
  }

  /** Returns the first `count` lines that match a pattern. @throws Error after 20 seconds. */
  async shows(pattern: RegExp, count = 1): Promise<string[]> {
    const signal = AbortSignal.timeout(20_000);
    for (;;) {
      const found = this.#lines.filter((line) => pattern.test(line));
      if (found.length >= count) return found;
      await once(this.#child, 'shown', { signal }).catch(() => {
        throw new Error(`The console printed no line that matches ${pattern} within 20 seconds.`);
      });
    }
  }

  /** Sends Ctrl-C. */
  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** Waits for the end and returns the exit code. */
  async exitCode(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }
}
