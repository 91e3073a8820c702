import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { commandEnvironment, commandLine, type RunOptions, start } from './command-line.ts';

/** Size and environment of a terminal. */
export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Program in a terminal, whose exit code is 128 and the number of the signal that ended it. */
interface TerminalProgram {
  readonly exit: Promise<number>;
  type(keys: string): void;
  onOutput(take: (text: string) => void): void;
}

/** A terminal in which a program runs. */
export class Terminal {
  readonly #program: TerminalProgram;
  #output = '';
  #onOutput: () => void = () => {};

  private constructor(program: TerminalProgram) {
    this.#program = program;
    program.onOutput((text) => {
      this.#output += text;
      this.#onOutput();
    });
    void program.exit.then(() => this.#onOutput());
  }

  /** Runs the command in this process, as in a terminal. */
  static actlog(args: readonly string[], { columns = 80, env = {} }: TerminalOptions = {}): Terminal {
    return new Terminal(commandHere(args, { columns, env: { TERM: 'xterm-256color', ...env } }));
  }

  /** Runs the command in a process of its own, in a terminal of the system. */
  static actlogProcess(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal(spawned(process.execPath, [...commandLine, ...args], options));
  }

  /** Runs a line of bash in a terminal of the system. */
  static bash(line: string, options: TerminalOptions = {}): Terminal {
    return new Terminal(spawned('bash', ['--norc', '-c', line], options));
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
    this.#program.type(keys);
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
    await Promise.race([shown, this.#program.exit]);
    if (!isShown()) throw new Error(`The terminal does not show ${text}:\n${this.text}`);
  }

  /** Waits for the end of the program and returns its exit code. */
  ended(): Promise<number> {
    return this.#program.exit;
  }
}

function commandHere(args: readonly string[], options: RunOptions): TerminalProgram {
  const command = start(args, options);
  return {
    exit: command.exit.then(({ code, signal }) => (signal ? 128 + constants.signals[signal] : Number(code))),
    type: (keys) => command.type(keys),
    onOutput: (take) => {
      for (const stream of [command.stdout, command.stderr])
        stream.on('written', (chunk) => take(String(chunk)));
    },
  };
}

function spawned(
  file: string,
  args: readonly string[],
  { columns = 80, env = {} }: TerminalOptions,
): TerminalProgram {
  const pty = spawn(file, [...args], {
    name: 'xterm-256color',
    cols: columns,
    rows: 40,
    env: commandEnvironment({ TERM: 'xterm-256color', ...env }),
  });
  let isRunning = true;
  const exit = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      isRunning = false;
      resolve(signal ? 128 + signal : exitCode);
    });
  });
  onTestFinished(() => {
    if (isRunning) pty.kill('SIGKILL');
  });
  return { exit, type: (keys) => pty.write(keys), onOutput: (take) => void pty.onData(take) };
}
