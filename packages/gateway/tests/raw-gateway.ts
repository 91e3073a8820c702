import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('program.ts', import.meta.url));

/** Node's arguments for the command `actlog gateway` from the sources. */
export const gatewayArgs = [
  '--conditions=@actlog/source',
  '--disable-warning=ExperimentalWarning',
  program,
] as const;

/** Node's arguments for a server among the tests. */
export function testServer(name: string, ...args: readonly string[]): string[] {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return [process.execPath, '--disable-warning=ExperimentalWarning', file, ...args];
}

/** Arguments for an official server. */
export function officialServer(name: string, ...args: readonly string[]): string[] {
  const main = fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));
  return [process.execPath, main, ...args];
}

/** A process whose lines are written and read as they are. */
export class RawGateway {
  readonly process: ChildProcess;
  readonly lines: string[] = [];
  stderr = '';
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  #rest = '';
  readonly #output: Buffer[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(env: Readonly<Record<string, string>>, command: readonly string[]) {
    const [file = '', ...args] = command;
    this.process = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.exit = once(this.process, 'close').then(([code, signal]) => ({ code, signal }));
    this.process.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
      this.#wake();
    });
    void this.exit.then(() => this.#wake());
  }

  /** Starts the gateway with options, in front of a server. */
  static start(
    env: Readonly<Record<string, string>>,
    server: readonly string[],
    options: readonly string[] = [],
  ): RawGateway {
    return new RawGateway(env, [process.execPath, ...gatewayArgs, ...options, '--', ...server]);
  }

  /** Everything that was written to stdout. */
  get output(): Buffer {
    return Buffer.concat(this.#output);
  }

  send(message: unknown): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  write(bytes: string | Buffer): void {
    this.process.stdin?.write(bytes);
  }

  /** Sends `initialize` under a name, and waits for the response. */
  async initialize(name: string): Promise<void> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } };
    this.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params });
    await this.message(({ id }) => id === 'init');
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  /** Sends a tool call. */
  call(id: unknown, name: string, args: unknown = {}, more: object = {}): void {
    const params = { name, arguments: args, ...more };
    this.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
  }

  /** Returns the first message that matches, when it is there. */
  async message(matches: (message: Message) => boolean): Promise<Message> {
    let next = 0;
    let found: Message | undefined;
    await this.until(() => {
      while (next < this.lines.length && !found) {
        const all = JSON.parse(this.lines[next] ?? 'null') as Message | Message[];
        next += 1;
        found = [all].flat().find(matches);
      }
      return found !== undefined;
    });
    return found as unknown as Message;
  }

  /** Resolves when a condition holds, which is checked at each output. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.process.exitCode !== null && this.process.stdout?.readableEnded) {
        throw new Error(`The gateway ended: ${this.stderr}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  /** Ends stdin, and returns how the process ends. */
  end(): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    this.process.stdin?.end();
    return this.exit;
  }

  #take(chunk: Buffer): void {
    this.#output.push(chunk);
    this.#rest += chunk.toString('latin1');
    if (!chunk.includes(10)) return;
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    this.lines.push(...lines.map((line) => Buffer.from(line, 'latin1').toString()));
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** A message of JSON-RPC. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Returns the text of a tool's result. */
export function textOf(message: Message): string {
  return message.result?.content?.[0]?.text ?? '';
}
