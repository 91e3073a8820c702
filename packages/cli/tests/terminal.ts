import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { commandEnvironment, commandLine } from './command-line.ts';

/** Size and environment of a terminal. */
export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A terminal in which a program runs. */
export class Terminal {
  readonly #pty: IPty;
  readonly #exited: Promise<number>;
  #output = '';
  #onOutput: () => void = () => {};

  private constructor(file: string, args: readonly string[], { columns = 80, env = {} }: TerminalOptions) {
    this.#pty = spawn(file, [...args], {
      name: 'xterm-256color',
      cols: columns,
      rows: 40,
      env: commandEnvironment({ TERM: 'xterm-256color', ...env }),
    });
    let isRunning = true;
    this.#exited = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal }) => {
        isRunning = false;
        resolve(signal ? 128 + signal : exitCode);
        this.#onOutput();
      });
    });
    this.#pty.onData((data) => {
      this.#output += data;
      this.#onOutput();
    });
    onTestFinished(() => {
      if (isRunning) this.#pty.kill('SIGKILL');
    });
  }

  /** Runs the command in a terminal. */
  static actlog(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal(process.execPath, [...commandLine, ...args], options);
  }

  /** Runs a line of bash in a terminal. */
  static bash(line: string, options: TerminalOptions = {}): Terminal {
    return new Terminal('bash', ['--norc', '-c', line], options);
  }

  /** The command as words of a shell. */
  static readonly quotedCommand = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(' ');

  /** Everything that the terminal received, with its escape sequences. */
  get raw(): string {
    return this.#output;
  }

  /** Everything that the terminal received, without escape sequences. */
  get text(): string {
    return stripVTControlCharacters(this.#output).replaceAll('\r\n', '\n');
  }

  /** Types characters. */
  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Waits until a text is printed. @throws Error when the program ends without printing it */
  async shows(text: string | RegExp): Promise<void> {
    const isShown = () => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text));
    const shown = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (isShown()) resolve();
      };
      this.#onOutput();
    });
    await Promise.race([shown, this.#exited]);
    if (!isShown()) throw new Error(`The terminal does not show ${text}:\n${this.text}`);
  }

  /** Waits for the end of the program and returns its exit code. */
  ended(): Promise<number> {
    return this.#exited;
  }
}
