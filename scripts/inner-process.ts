import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { EventEmitter } from 'node:events';
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';

/** Surroundings of a program that runs in the process of its test. */
export interface InnerProcessOptions {
  /** All variables of its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Content of standard input, which then ends; open by default. */
  readonly input?: string | Buffer | undefined;
  /** Folder that it runs in; that of the test by default. Programs that need another one wait for each other. */
  readonly cwd?: string | undefined;
  /** `true` for a server: it goes on when `program` has resolved, until the first signal. */
  readonly keepsRunning?: boolean;
  /** Width of the terminal that its standard streams are; none by default. */
  readonly columns?: number | undefined;
  /** Arguments after the name of the program, for one that reads `process.argv`. */
  readonly args?: readonly string[];
}

/** End of a program, as `child_process` reports it. */
export interface InnerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const endingSignals: readonly unknown[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * A program that runs in the process of its test as if it had been started: with its own standard streams, environment,
 * folder, exit code and signals, and without the second in which a process loads it. What only a process can show, such
 * as a crash, needs a real one.
 */
export class InnerProcess {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Settles when the program has ended. Rejects with an error of which a process would have died. */
  readonly exit: Promise<InnerExit>;
  /** The program's own `process`. */
  readonly process: NodeJS.Process;
  readonly console: Console;
  /** Recorder that integrations without one of their own share in a process. */
  sharedRecorder: unknown;
  readonly #stdin: InputStream;
  readonly #signals = new EventEmitter();
  readonly #signaled = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<InnerExit>();
  readonly #handling: unknown[] = [];

  /**
   * Starts a program.
   *
   * @param program - resolves to the exit code, or sets that of its process
   */
  constructor(program: () => Promise<unknown>, options: InnerProcessOptions) {
    install();
    this.#stdin = new InputStream(options.columns !== undefined);
    this.stdout = new OutputStream(options.columns);
    this.stderr = new OutputStream(options.columns);
    this.console = new Console(this.stdout, this.stderr);
    this.process = this.#createProcess(options);
    if (options.input !== undefined) this.end(options.input);
    this.exit = this.#run(program, options);
    this.exit.catch(() => {});
  }

  /** Writes to standard input. */
  write(chunk: string | Buffer): void {
    running.run(this, () => void this.#stdin.write(chunk));
  }

  /** Ends standard input, after a last text. */
  end(chunk: string | Buffer = ''): void {
    running.run(this, () => void this.#stdin.end(chunk));
  }

  /** Types keys in the terminal, which takes Ctrl+C for a signal unless the program reads single keys. */
  type(keys: string): void {
    if (keys === '\u0003' && !this.#stdin.isRaw) this.kill('SIGINT');
    else this.write(keys);
  }

  /** Sends a signal. Without a listener it ends the program, as far as its test can tell. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    const listeners = this.#signals.listeners(signal) as ((name: NodeJS.Signals) => unknown)[];
    if (listeners.length === 0) this.#ended.resolve({ code: null, signal });
    running.run(this, () => {
      for (const listener of listeners) this.#handling.push(listener(signal));
    });
    this.#signaled.resolve();
  }

  async #run(program: () => Promise<unknown>, options: InnerProcessOptions): Promise<InnerExit> {
    const leave = await enterFolder(options.cwd);
    try {
      return await Promise.race([this.#ended.promise, this.#toItsEnd(program, options)]);
    } finally {
      leave();
      this.stdout.close();
      this.stderr.close();
    }
  }

  #toItsEnd(program: () => Promise<unknown>, { keepsRunning }: InnerProcessOptions): Promise<InnerExit> {
    return running.run(this, async () => {
      const returned = await program();
      if (typeof returned === 'number') this.process.exitCode = returned;
      if (keepsRunning && !this.process.exitCode) await this.#signaled.promise;
      await Promise.all(this.#handling);
      return { code: Number(this.process.exitCode ?? 0), signal: null };
    });
  }

  #createProcess({ env, cwd, args = [] }: InnerProcessOptions): NodeJS.Process {
    const own: Record<PropertyKey, unknown> = {
      env: { ...env },
      stdin: this.#stdin,
      stdout: this.stdout,
      stderr: this.stderr,
      exitCode: undefined,
      argv: [real.execPath, 'program', ...args],
      cwd: () => cwd ?? real.cwd(),
      emitWarning: real.emitWarning.bind(real),
      exit: (code?: number) => {
        this.#ended.resolve({ code: Number(code ?? this.process.exitCode ?? 0), signal: null });
        this.stdout.isOver = true;
        this.stderr.isOver = true;
        throw new Error('The program has ended.');
      },
      kill: (pid: number, signal: NodeJS.Signals | 0 = 'SIGTERM') => {
        if (pid !== real.pid || signal === 0) return real.kill(pid, signal);
        this.kill(signal);
        return true;
      },
    };
    for (const name of ['on', 'once', 'off', 'addListener', 'removeListener'] as const) {
      const ofProcess = real[name].bind(real) as (event: string, listener: () => void) => unknown;
      own[name] = (event: string, listener: () => void) => {
        if (endingSignals.includes(event)) this.#signals[name](event, listener);
        else ofProcess(event, listener);
        return this.process;
      };
    }
    return new Proxy(real, {
      get: (target, key) => (Object.hasOwn(own, key) ? own[key] : Reflect.get(target, key)),
      set: (target, key, value) =>
        Object.hasOwn(own, key) ? Reflect.set(own, key, value) : Reflect.set(target, key, value),
    });
  }
}

/** Standard input of a program. */
class InputStream extends PassThrough {
  readonly isTTY: boolean;
  isRaw = false;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
}

/** Standard output or error of a program, which is never full. */
export class OutputStream extends Writable {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  /** `true` once the program has called `process.exit`: what it would write then is dropped. */
  isOver = false;
  readonly #chunks: Buffer[] = [];
  readonly #waiting = new Set<() => void>();
  #file: { readonly fd: number; readonly path: string } | undefined;
  #logged = '';
  #readTo = 0;

  /** @param columns - width of the terminal; undefined for a pipe */
  constructor(columns?: number) {
    super({ decodeStrings: true, highWaterMark: Number.MAX_SAFE_INTEGER });
    this.isTTY = columns !== undefined;
    this.columns = columns;
    this.rows = columns === undefined ? undefined : 40;
  }

  /** Number of bits for colors, as a terminal has them in this environment. */
  getColorDepth(env?: object): number {
    return WriteStream.prototype.getColorDepth.call(this, env);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isOver) this.#chunks.push(chunk);
    for (const check of this.#waiting) check();
    this.emit('written', chunk);
    done();
  }

  /** Everything that was written, as bytes. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Everything that was written. */
  get text(): string {
    return this.bytes.toString();
  }

  /** File descriptor, for a program that writes to it. {@link logged} has what it writes. */
  get fd(): number {
    if (!this.#file) {
      const path = join(mkdtempSync(join(os.tmpdir(), 'actlog-output-')), 'output');
      this.#file = { fd: openSync(path, 'a'), path };
    }
    return this.#file.fd;
  }

  /** Everything that was written to the file descriptor. */
  get logged(): string {
    return this.#file ? readFileSync(this.#file.path, 'utf8') : this.#logged;
  }

  /** Resolves when a condition holds for what is written, which is checked at each write. */
  async until(holds: (text: string) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (holds(this.text)) resolve();
    };
    this.#waiting.add(check);
    check();
    await promise;
    this.#waiting.delete(check);
  }

  /** Returns the next line when it is written. */
  async line(): Promise<string> {
    await this.until((text) => text.includes('\n', this.#readTo));
    const end = this.text.indexOf('\n', this.#readTo);
    const line = this.text.slice(this.#readTo, end);
    this.#readTo = end + 1;
    return line;
  }

  /** Releases the file descriptor of a program that has ended. */
  close(): void {
    if (!this.#file) return;
    const { fd, path } = this.#file;
    this.#logged = this.logged;
    this.#file = undefined;
    closeSync(fd);
    rmSync(dirname(path), { recursive: true });
  }
}

/** State of a worker that its test files share, whose modules are loaded anew for each. */
interface Shared {
  readonly running: AsyncLocalStorage<InnerProcess>;
  readonly real: NodeJS.Process;
  readonly home: string;
  readonly folder: { cwd: string; users: number; waiting: (() => void)[] };
  isInstalled: boolean;
}

const key = Symbol.for('actlog.innerProcess');
const registry = globalThis as unknown as Record<symbol, unknown>;
registry[key] ??= {
  running: new AsyncLocalStorage<InnerProcess>(),
  real: globalThis.process,
  home: globalThis.process.cwd(),
  folder: { cwd: '', users: 0, waiting: [] },
  isInstalled: false,
} satisfies Shared;
const shared = registry[key] as Shared;
const { running, real } = shared;

/** Enters a folder, and returns a function that leaves it: a process has only one, so others wait. */
async function enterFolder(cwd: string | undefined): Promise<() => void> {
  if (cwd === undefined) return () => {};
  const { folder, home } = shared;
  while (folder.users > 0 && folder.cwd !== cwd) {
    await new Promise<void>((resolve) => folder.waiting.push(resolve));
  }
  folder.users += 1;
  folder.cwd = cwd;
  real.chdir(cwd);
  return () => {
    folder.users -= 1;
    if (folder.users > 0) return;
    real.chdir(home);
    for (const resolve of folder.waiting.splice(0)) resolve();
  };
}

/** Shows to each program its own surroundings, and to everything else those of this process. */
function install(): void {
  if (shared.isInstalled) return;
  shared.isInstalled = true;
  define(globalThis, 'process', real, (inner) => inner.process);
  define(globalThis, 'console', globalThis.console, (inner) => inner.console);
  // Libraries import the process instead of using the global one.
  define(real, 'argv', real.argv, (inner) => inner.process.argv);
  define(real, 'exit', real.exit, (inner) => inner.process.exit);
  define(real, 'env', real.env, (inner) => inner.process.env);
  define(real, 'stdin', undefined, (inner) => inner.process.stdin);
  define(real, 'stdout', undefined, (inner) => inner.stdout);
  define(real, 'stderr', undefined, (inner) => inner.stderr);
  const recorder = Symbol.for('@actlog/recorder/shared');
  define(
    globalThis,
    recorder,
    undefined,
    (inner) => inner.sharedRecorder,
    (inner, value) => {
      inner.sharedRecorder = value;
    },
  );
  // A hook reads its standard input without a stream where that is possible.
  const { readSync } = fs;
  fs.readSync = ((fd: number, ...args: never[]) => {
    if (fd === 0 && running.getStore()) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' });
    return (readSync as (...all: unknown[]) => number)(fd, ...args);
  }) as typeof readSync;
  const { homedir, tmpdir } = os;
  os.homedir = () => running.getStore()?.process.env.HOME ?? homedir();
  os.tmpdir = () => running.getStore()?.process.env.TMPDIR ?? tmpdir();
  syncBuiltinESMExports();
}

/** Replaces a property by one that differs in each program. Where there was an accessor, it goes on. */
function define(
  owner: object,
  name: PropertyKey,
  outside: unknown,
  inside: (inner: InnerProcess) => unknown,
  assign: (inner: InnerProcess, value: unknown) => void = () => {},
): void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  let value = outside;
  Object.defineProperty(owner, name, {
    configurable: true,
    enumerable: before?.enumerable ?? false,
    get() {
      const inner = running.getStore();
      if (inner) return inside(inner);
      return value ?? before?.get?.call(owner);
    },
    set(next: unknown) {
      const inner = running.getStore();
      if (inner) assign(inner, next);
      else value = next;
    },
  });
}
