import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { atTestEnd } from '../test-end.ts';

const sources = join(import.meta.dirname, 'engine');

/** Folder of the engine, outside node_modules: it takes 550 MB, and only these tests need it. */
const installed = join(import.meta.dirname, '../../../../.toolchain/clickhouse-26.7.3');

let installing: Promise<void> | undefined;

/** Installs the engine as its lockfile says, unless it is there. */
async function install(): Promise<void> {
  if (existsSync(installed)) return;
  const folder = `${installed}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(sources, name), join(folder, name));
  // Not `npm ci`, which needs a lockfile with the engine for all systems. The lockfile has the digests in either case.
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
  });
  try {
    renameSync(folder, installed);
  } catch (error) {
    // Another process was faster.
    rmSync(folder, { recursive: true });
    if (!existsSync(installed)) throw error;
  }
}

/** A query that reaches ClickHouse, with the data of an insert. */
export interface SentQuery {
  readonly sql: string;
  readonly settings: URLSearchParams;
}

/** Fate of a query: it runs, ClickHouse is not reached, or its response is lost, or ends too early, after it ran. */
export type Fate = 'runs' | 'not reached' | 'response lost' | 'response cut';

/**
 * ClickHouse in a process of its own, which can be killed, behind a proxy, which can lose queries and responses. It is the
 * engine of ClickHouse as a library: its tables, merges and deduplication are those of the server, without replication.
 */
export class ClickHouse {
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-clickhouse-'));
  readonly #proxy: Server;
  #engine: ChildProcess | undefined;
  #enginePort = 0;
  #port = 0;
  /** Decides on each query before it runs. May wait. */
  fateOf: (query: SentQuery) => Fate | Promise<Fate> = () => 'runs';
  /** Queries that were received, in their order. */
  readonly queries: SentQuery[] = [];

  private constructor() {
    this.#proxy = createServer((request, response) => void this.#forward(request, response));
  }

  /** Starts an empty ClickHouse, which ends after the test. */
  static async start(): Promise<ClickHouse> {
    installing ??= install();
    await installing;
    const clickHouse = new ClickHouse();
    atTestEnd(async () => {
      await clickHouse.kill();
      await clickHouse.disconnect();
      rmSync(clickHouse.#folder, { recursive: true, force: true });
    });
    await clickHouse.run();
    await clickHouse.connect();
    return clickHouse;
  }

  /** Value of the setting `history`. */
  get address(): string {
    return `http://actlog:the%20password@127.0.0.1:${this.#port}/history`;
  }

  /** Starts the process. */
  async run(): Promise<void> {
    const args = [join(import.meta.dirname, 'http-front.ts'), installed, join(this.#folder, 'data')];
    const engine = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#engine = engine;
    const died = once(engine, 'exit').then(() => {
      throw new Error('ClickHouse ended before it listened.');
    });
    const [line] = await Promise.race([once(createInterface(engine.stdout), 'line'), died]);
    died.catch(() => {});
    this.#enginePort = Number(line);
  }

  /** Kills the process without warning. */
  async kill(): Promise<void> {
    const engine = this.#engine;
    if (!engine || engine.exitCode !== null || engine.signalCode !== null) return;
    const ended = once(engine, 'exit');
    engine.kill('SIGKILL');
    await ended;
  }

  /** Accepts connections again. */
  async connect(): Promise<void> {
    this.#proxy.listen(this.#port, '127.0.0.1');
    await once(this.#proxy, 'listening');
    this.#port = (this.#proxy.address() as AddressInfo).port;
  }

  /** Refuses connections. */
  async disconnect(): Promise<void> {
    if (!this.#proxy.listening) return;
    this.#proxy.close();
    this.#proxy.closeAllConnections();
    await once(this.#proxy, 'close');
  }

  /** Returns the rows of a query that the proxy does not see. */
  async rows<Row>(query: string): Promise<Row[]> {
    const client = createClient({
      url: `http://127.0.0.1:${this.#enginePort}`,
      username: 'actlog',
      password: 'the password',
      database: 'history',
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    try {
      return await (await client.query({ query, format: 'JSONEachRow' })).json<Row>();
    } finally {
      await client.close();
    }
  }

  /** Runs a command that the proxy does not see. */
  async command(query: string): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#enginePort}/?database=history`, {
      method: 'POST',
      body: query,
      headers: { authorization: `Basic ${btoa('actlog:the password')}` },
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const query = { sql: searchParams.get('query') ?? body.toString('utf8'), settings: searchParams };
    this.queries.push(query);
    const fate = await this.fateOf(query);
    if (fate === 'not reached') return void request.socket.destroy();
    try {
      const { authorization = '' } = request.headers;
      const received = await fetch(`http://127.0.0.1:${this.#enginePort}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization },
        ...(request.method === 'POST' && { body: new Uint8Array(body) }),
      });
      const content = Buffer.from(await received.arrayBuffer());
      if (fate === 'response lost') return void request.socket.destroy();
      response.writeHead(received.status, Object.fromEntries(received.headers));
      if (fate === 'response cut') {
        // Behind a line, so that what arrives is valid.
        const half = content.subarray(0, content.indexOf('\n', content.length >> 1) + 1);
        response.write(half, () => request.socket.destroy());
        return;
      }
      response.end(content);
    } catch {
      request.socket.destroy();
    }
  }
}
