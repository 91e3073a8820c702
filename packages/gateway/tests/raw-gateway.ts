import { fileURLToPath } from 'node:url';
import type { InnerExit } from '../../../scripts/inner-process.ts';
import { type GatewayProgram, gatewayArgs, gatewayHere, spawned } from './gateway-program.ts';

/** Node's arguments for a server among the tests. */
export function testServer(name: string, ...args: readonly string[]): string[] {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return [
    process.execPath,
    '--conditions=@actlog/source',
    '--disable-warning=ExperimentalWarning',
    file,
    ...args,
  ];
}

/** Arguments for an official server. */
export function officialServer(name: string, ...args: readonly string[]): string[] {
  const main = fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`));
  return [process.execPath, main, ...args];
}

/** A gateway whose lines are written and read as they are. */
export class RawGateway {
  readonly lines: string[] = [];
  stderr = '';
  readonly exit: Promise<InnerExit>;
  readonly #program: GatewayProgram;
  #hasEnded = false;
  #rest = '';
  readonly #output: Buffer[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(program: GatewayProgram) {
    this.#program = program;
    this.exit = program.exit;
    program.onOutput((chunk) => this.#take(chunk));
    program.onErrorOutput((chunk) => {
      this.stderr += chunk.toString();
      this.#wake();
    });
    const end = () => {
      this.#hasEnded = true;
      this.#wake();
    };
    this.exit.then(end, end);
  }

  /** Starts the gateway in this process with options, in front of a server. */
  static start(
    env: Readonly<Record<string, string>>,
    server: readonly string[],
    options: readonly string[] = [],
  ): RawGateway {
    return RawGateway.run(env, [...options, '--', ...server]);
  }

  /** Runs the gateway in this process with arguments. */
  static run(env: Readonly<Record<string, string>>, args: readonly string[]): RawGateway {
    return new RawGateway(gatewayHere(env, args));
  }

  /** Starts the gateway in a process of its own, in front of a server. */
  static startProcess(
    env: Readonly<Record<string, string>>,
    server: readonly string[],
    options: readonly string[] = [],
  ): RawGateway {
    return RawGateway.spawn(env, [process.execPath, ...gatewayArgs, ...options, '--', ...server]);
  }

  /** Starts another program in a process of its own. */
  static spawn(env: Readonly<Record<string, string>>, command: readonly string[]): RawGateway {
    return new RawGateway(spawned(env, command));
  }

  kill(signal: NodeJS.Signals): void {
    this.#program.kill(signal);
  }

  /** Everything that was written to stdout. */
  get output(): Buffer {
    return Buffer.concat(this.#output);
  }

  send(message: unknown): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  write(bytes: string | Buffer): void {
    this.#program.write(bytes);
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
      if (this.#hasEnded) {
        throw new Error(`The gateway ended: ${this.stderr}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  /** Ends stdin, and returns how the program ends. */
  end(): Promise<InnerExit> {
    this.#program.end();
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
