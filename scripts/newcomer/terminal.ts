import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Saves the folder and variables for the next lines. */
const remember = `{ export -p; printf 'cd %q\\n' "$PWD"; } > "$ACTLOG_TERMINAL_STATE"`;
const recall = `if [ -f "$ACTLOG_TERMINAL_STATE" ]; then . "$ACTLOG_TERMINAL_STATE"; fi`;

/** A terminal with a shell that keeps its folder and variables between lines. */
export class Terminal {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #home: string;
  readonly #state: string;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #output = '';
  #onOutput: () => void = () => {};

  /**
   * @param environment - variables, including `HOME`, the first folder
   * @param scratch - folder for the state between lines
   */
  constructor(environment: NodeJS.ProcessEnv, scratch: string) {
    this.#state = join(mkdtempSync(join(scratch, 'terminal-')), 'state');
    this.#home = String(environment.HOME);
    this.#environment = { ...environment, ACTLOG_TERMINAL_STATE: this.#state };
  }

  /** All output so far. */
  get output(): string {
    return this.#output;
  }

  /** Current folder. */
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
   * @throws Error when an earlier command is still running, so there is no prompt
   */
  type(lines: readonly string[]): void {
    if (this.#isBusy) throw new Error('an earlier command is still running in this terminal');
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
   * Waits until the awaited text is printed after `from`; without one, until the lines end.
   *
   * @returns `true` if it was printed; `false` if the lines ended without it
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
      signal.addEventListener('abort', () => reject(new Error('the step took too long')), { once: true });
    });
    await Promise.race([seen, this.#ended, givenUp]);
    const { exitCode, signalCode } = this.#child ?? {};
    if (exitCode || signalCode)
      throw new Error(`the command ended with ${signalCode ?? `exit code ${exitCode}`}`);
    return isSeen();
  }

  /** Presses Ctrl+C and waits until every process has ended. */
  async interrupt(): Promise<void> {
    const group = -(this.#child?.pid ?? 0);
    if (!this.#isBusy || group === 0) return;
    process.kill(group, 'SIGINT');
    const patience = setTimeout(() => process.kill(group, 'SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(patience);
  }
}
