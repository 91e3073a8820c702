import { type ChildProcess, spawn } from 'node:child_process';
import { StreamableHTTPClientTransport as V2HttpTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport as V2StdioTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as V1StdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1HttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type GatewayProgram, gatewayArgs, gatewayHere } from './gateway-program.ts';
import { officialServer } from './raw-gateway.ts';

/** Generations of the SDK. */
export type Generation = 'v1' | 'v2';

/** Kind of connection from a client through the gateway to a server. */
export type Route = 'stdio → stdio' | 'stdio → HTTP' | 'HTTP → stdio' | 'HTTP → HTTP';

/** Something to end after a test. */
export interface Ending {
  end(): Promise<unknown>;
}

/** A process that says on stdout or stderr where it listens. */
export class ListeningProcess implements Ending {
  readonly #process: ChildProcess;
  readonly url: Promise<URL>;
  stderr = '';

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    const [file = '', ...args] = command;
    this.#process = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { promise, resolve, reject } = Promise.withResolvers<URL>();
    this.url = promise;
    promise.catch(() => {});
    const read = (chunk: Buffer) => {
      this.stderr += chunk.toString();
      const [, url] = /Listening on (\S+)/.exec(this.stderr) ?? [];
      const [, port] = /listening on port (\d+)/.exec(this.stderr) ?? [];
      if (url) resolve(new URL(url));
      else if (port) resolve(new URL(`http://127.0.0.1:${port}/mcp`));
    };
    this.#process.stdout?.on('data', read);
    this.#process.stderr?.on('data', read);
    this.#process.once('exit', () => reject(new Error(`It ended: ${this.stderr}`)));
  }

  async end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.once('exit', () => resolve());
    this.#process.kill('SIGTERM');
    await promise;
  }
}

/** A gateway in this process that listens for clients. */
export class ListeningGateway implements Ending {
  readonly url: Promise<URL>;
  readonly #gateway: GatewayProgram;

  constructor(env: Readonly<Record<string, string>>, args: readonly string[]) {
    this.#gateway = gatewayHere(env, ['--listen', '0', ...args]);
    const { promise, resolve, reject } = Promise.withResolvers<URL>();
    this.url = promise;
    promise.catch(() => {});
    let stderr = '';
    this.#gateway.onErrorOutput((chunk) => {
      stderr += chunk.toString();
      const [, url] = /Listening on (\S+)\n/.exec(stderr) ?? [];
      if (url) resolve(new URL(url));
    });
    void this.#gateway.exit.then(() => reject(new Error(`It ended: ${stderr}`)));
  }

  async end(): Promise<void> {
    this.#gateway.kill('SIGTERM');
    await this.#gateway.exit;
  }
}

/** Starts the official server with everything, over HTTP. */
export async function startEverything(): Promise<{ readonly url: URL } & Ending> {
  const port = await freePort();
  const env = { ...(process.env as Record<string, string>), PORT: String(port) };
  const server = new ListeningProcess(officialServer('everything', 'streamableHttp'), env);
  await server.url;
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), end: () => server.end() };
}

/** Creates a client's transport through the gateway, whose end is in `endings`. */
export async function connect(
  route: Route,
  generation: Generation,
  env: Readonly<Record<string, string>>,
  options: readonly string[],
  endings: Ending[],
) {
  const server = route.endsWith('stdio') ? ['--', ...officialServer('everything', 'stdio')] : [];
  if (route.endsWith('HTTP')) {
    const everything = await startEverything();
    endings.push(everything);
    server.push('--url', everything.url.href);
  }
  if (route.startsWith('stdio')) {
    const parameters = { command: process.execPath, args: [...gatewayArgs, ...options, ...server], env };
    return generation === 'v1'
      ? new V1StdioTransport({ ...parameters, stderr: 'ignore' })
      : new V2StdioTransport({ ...parameters, stderr: 'ignore' });
  }
  const gateway = new ListeningGateway(env, [...options, ...server]);
  endings.push(gateway);
  const url = await gateway.url;
  return generation === 'v1' ? new V1HttpTransport(url) : new V2HttpTransport(url);
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
