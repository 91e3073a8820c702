import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Calls a tool of an MCP server over stdio, one call at a time, with as little of its own as possible. */
export class ToolCaller {
  readonly #process: ChildProcess;
  readonly #responses = new Map<number, () => void>();
  #lastId = 0;

  /** @param command - the server, or the gateway in front of it */
  constructor([file = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    this.#process = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const { stdout } = this.#process;
    if (!stdout) throw new Error('The server has no stdout.');
    createInterface({ input: stdout }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as { id?: number; method?: string };
      if (id !== undefined && method === undefined) this.#responses.get(id)?.();
    });
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#send({ method: 'notifications/initialized' });
  }

  call(): Promise<void> {
    return this.#request('tools/call', { name: 'echo', arguments: { message: 'hello' } });
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#process.stdin?.end();
    await closed;
  }

  #request(method: string, params: object): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#responses.set(id, resolve);
    this.#send({ id, method, params });
    return promise.finally(() => this.#responses.delete(id));
  }

  #send(message: object): void {
    this.#process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
