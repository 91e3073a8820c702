import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';

/** Time that a server has to end after the end of its stdin, in milliseconds. */
const endMs = 5000;
/** Time that it has to end after SIGTERM, in milliseconds: less than clients give the gateway. */
const terminateMs = 1500;

/** End of a server's process. */
export interface ServerExit {
  /** Exit code; `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options of a server's process. */
export interface ChildServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Process of an MCP server that is connected by stdio. It shares the stderr of this process. */
export class ChildServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended and its output is read. */
  readonly exit: Promise<ServerExit>;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, stdin: Writable, stdout: Readable) {
    this.#process = process;
    this.stdin = stdin;
    this.stdout = stdout;
    // A server that has ended reads nothing more; its end is reported by `exit`.
    stdin.on('error', () => {});
    this.exit = new Promise((resolve) => {
      process.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  /**
   * Starts a server.
   *
   * @throws Error when the command cannot be started; its message names the command and not the arguments
   */
  static async start({ command, args, env }: ChildServerOptions): Promise<ChildServer> {
    const child = spawn(command, [...args], { env, stdio: ['pipe', 'pipe', 'inherit'], windowsHide: true });
    const { stdin, stdout } = child;
    if (!stdin || !stdout) throw new Error(`The MCP server ${command} has no stdin or stdout.`);
    const server = new ChildServer(child, stdin, stdout);
    try {
      await once(child, 'spawn');
      return server;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const problem = code === 'ENOENT' ? 'was not found: check the name and PATH' : `failed: ${code}`;
      throw new Error(`The command of the MCP server, ${command}, could not be started: it ${problem}.`);
    }
  }

  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /**
   * Ends the process in the order of the Model Context Protocol ("Lifecycle", "Shutdown"): its stdin ends; if it does
   * not exit, it gets SIGTERM, and then SIGKILL.
   */
  async stop(): Promise<ServerExit> {
    await this.#endInput();
    if (await this.#exitsWithin(endMs)) return this.exit;
    return this.terminate('SIGTERM');
  }

  /** Ends the process by a signal, and by SIGKILL if it does not exit. */
  async terminate(signal: NodeJS.Signals): Promise<ServerExit> {
    this.kill(signal);
    this.stdin.end();
    if (!(await this.#exitsWithin(terminateMs))) this.kill('SIGKILL');
    return this.exit;
  }

  /** Ends stdin, and resolves when the server has read it, except for what fits into the pipe. */
  async #endInput(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stdin.end(() => resolve());
    this.stdin.once('close', () => resolve());
    void this.exit.then(() => resolve());
    return promise;
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    void this.exit.then(() => resolve(true));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Reads a stream line by line, and pauses it while the stream that its lines go to is full. What comes after the last
 * line ending is passed on as a line when the stream ends.
 *
 * @param sink - stream that the lines go to; undefined if they go to several
 * @param take - receives each line with its line ending
 * @returns resolves when the stream has ended or is closed
 */
export function pump(
  source: Readable,
  sink: Writable | undefined,
  take: (line: Buffer) => void,
): Promise<void> {
  const lines = new LineSplitter();
  const { promise, resolve } = Promise.withResolvers<void>();
  source.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) take(line);
    if (!sink?.writableNeedDrain || sink.destroyed) return;
    source.pause();
    const resume = () => {
      sink.off('drain', resume);
      sink.off('close', resume);
      source.resume();
    };
    sink.once('drain', resume);
    sink.once('close', resume);
  });
  source.once('end', () => {
    const rest = lines.end();
    if (rest) take(rest);
  });
  source.once('error', () => resolve());
  source.once('close', () => resolve());
  source.once('end', () => resolve());
  return promise;
}

const newline = 0x0a;

/**
 * Splits a stream into lines without changing a byte (Model Context Protocol, "Transports": stdio). A character may be
 * split between two chunks, so lines are bytes, and each includes its line ending.
 */
export class LineSplitter {
  readonly #parts: Buffer[] = [];

  /** Takes the next chunk, and returns the lines that are complete with it. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end + 1);
      lines.push(this.#parts.length === 0 ? rest : Buffer.concat([...this.#parts.splice(0), rest]));
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    return lines;
  }

  /** Returns what came after the last line ending; undefined if nothing did. */
  end(): Buffer | undefined {
    return this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts.splice(0));
  }
}

/** Resolves when everything is written to a stream, or it is closed. */
export function written(output: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (output.destroyed || !output.writable) return Promise.resolve();
  output.once('close', () => resolve());
  output.write('', () => resolve());
  return promise;
}

/** Source of the signals that end the gateway. */
export interface SignalSource {
  /** Calls the listener for each signal until the returned function is called. */
  listen(listener: (signal: NodeJS.Signals) => void): () => void;
}
