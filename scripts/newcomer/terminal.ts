import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keeps folder and variables for the next lines, as a terminal does. */
const remember = `{ export -p; printf 'cd %q\\n' "$PWD"; } > "$ACTLOG_TERMINAL_STATE"`;
const recall = `if [ -f "$ACTLOG_TERMINAL_STATE" ]; then . "$ACTLOG_TERMINAL_STATE"; fi`;

/** A terminal with a shell in it: what is typed keeps its folder and its variables for what is typed next. */
export class Terminal {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #home: string;
  readonly #state: string;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #output = '';
  #onOutput: () => void = () => {};

  /**
   * @param environment - with `HOME`, in which it opens
   * @param scratch - a folder for what the terminal has to remember
   */
  constructor(environment: NodeJS.ProcessEnv, scratch: string) {
    this.#state = join(mkdtempSync(join(scratch, 'terminal-')), 'state');
    this.#home = String(environment.HOME);
    this.#environment = { ...environment, ACTLOG_TERMINAL_STATE: this.#state };
  }

  /** Everything that was printed in it. */
  get output(): string {
    return this.#output;
  }

  /** The folder that it is in. */
  get folder(): string {
    if (!existsSync(this.#state)) return this.#home;
    const [, folder = this.#home] = /^cd (.*)$/m.exec(readFileSync(this.#state, 'utf8')) ?? [];
    return folder.replaceAll(/\\(.)/g, '$1');
  }

  get #isBusy(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Types lines.
   *
   * @throws Error when what was typed before still runs, so that there is no prompt
   */
  type(lines: readonly string[]): void {
    if (this.#isBusy) throw new Error('what was started in this terminal before still runs');
    const program = ['set -e', recall, ...lines, remember].join('\n');
    const child = spawn('bash', ['-c', program], {
      cwd: this.#home,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own, so that Ctrl+C reaches all that runs in it
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        this.#output += chunk;
        this.#onOutput();
      });
    }
    this.#child = child;
    this.#ended = once(child, 'close');
  }

  /**
   * Waits until what is awaited was printed after `from`, or for the end of the lines where nothing is awaited.
   *
   * @returns whether it was seen; false when the lines have ended without
   * @throws Error when the lines end with a failure, or the signal ends the wait
   */
  async until(awaited: RegExp | undefined, from: number, signal: AbortSignal): Promise<boolean> {
    const isSeen = () => awaited?.test(this.#output.slice(from)) === true;
    const seen = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (isSeen()) resolve();
      };
    });
    const givenUp = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('it took too long')), { once: true });
    });
    await Promise.race([seen, this.#ended, givenUp]);
    const { exitCode, signalCode } = this.#child ?? {};
    if (exitCode || signalCode) throw new Error(`it ended with ${signalCode ?? `exit code ${exitCode}`}`);
    return isSeen();
  }

  /** Presses Ctrl+C and waits for the end of all that runs in it. */
  async interrupt(): Promise<void> {
    const group = -(this.#child?.pid ?? 0);
    if (!this.#isBusy || group === 0) return;
    process.kill(group, 'SIGINT');
    const patience = setTimeout(() => process.kill(group, 'SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(patience);
  }
}
