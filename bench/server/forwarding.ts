import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Forwarder } from '../../packages/server/src/forward/forwarder.ts';
import { ClickHouse, historySetting } from '../../packages/server/src/history/click-house.ts';
import {
  HistoryDestination,
  historyForwarding,
} from '../../packages/server/src/history/history-destination.ts';
import { Metrics } from '../../packages/server/src/observability/metrics.ts';
import { openStorage } from '../../packages/server/src/open-storage.ts';
import { logHead } from '../../packages/server/src/storage/log/tenant-log.ts';
import { SqliteConnection } from '../../packages/server/src/storage/sqlite/sqlite-connection.ts';
import { SqliteWriter } from '../../packages/server/src/storage/sqlite/sqlite-writer.ts';
import type { Storage } from '../../packages/server/src/storage/storage.ts';
import { forwardPosition } from '../../packages/server/src/storage/stores/forward-store.ts';
import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { median } from '../measure/interleaved-rounds.ts';
import { eventBodies, shortSessionBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { load } from './load.ts';

/** Forwarding of a log to the history. */
export interface ForwardingResult {
  readonly load: string;
  readonly events: number;
  readonly eventsPerSecond: number;
  /** Processor time of the server for an event, in microseconds, without that of PostgreSQL. */
  readonly cpuMicros: number;
  /** Statements of any kind for a thousand events. */
  readonly statements: number;
  /** Events of a block. */
  readonly block: number;
  /** Longest time for which the event loop was busy, in milliseconds. */
  readonly longestStallMs: number;
}

interface Round {
  readonly seconds: number;
  readonly cpuMicros: number;
  readonly statements: number;
  readonly blocks: number;
  readonly stallMs: number;
}

const tenantId = 1;
const rounds = 5;
/** Events in a log, at least. */
const minEvents = 20_000;

/** Accepts every block, so that only the work of the server is measured. */
const sink = `
  const { createServer } = require('node:http');
  let blocks = 0;
  const server = createServer((request, response) => {
    const isBlock = request.url.includes('INSERT');
    request.resume().on('end', () => {
      if (isBlock) blocks += 1;
      response.end(request.url === '/blocks' ? String(blocks) : '{"comment":"actlog bench"}\\n');
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());`;

/** Starts a process that stands for ClickHouse, at a port. */
export async function startSink(): Promise<{ readonly port: number; readonly stop: () => void }> {
  const child = spawn(process.execPath, ['--eval', sink], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [port] = (await once(child, 'message')) as [number];
  return { port, stop: () => child.disconnect() };
}

/** Measures the forwarder to the history on SQLite and on PostgreSQL, without ClickHouse. */
export async function measureForwarding(): Promise<readonly ForwardingResult[]> {
  const { port, stop } = await startSink();
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const postgres = await LocalPostgres.create(['shared_preload_libraries=pg_stat_statements']);
  const results: ForwardingResult[] = [];
  try {
    if (typeof postgres !== 'string') {
      await postgres.query('postgres', 'create role actlog login; create extension pg_stat_statements');
    }
    for (const [kind, bodies] of [
      ['long sessions', () => eventBodies(50)],
      ['2–3 events a session', () => shortSessionBodies(10_000)],
    ] as const) {
      const file = join(folder, `${kind.length}.db`);
      let count = 0;
      const onSqlite = countStatements(() => {
        count += 1;
      });
      results.push(await measure(`SQLite, ${kind}`, file, bodies(), port, async () => count));
      onSqlite();
      if (typeof postgres === 'string') continue;
      const database = `bench_${kind.length}`;
      await postgres.query('postgres', `create database ${database} owner actlog`);
      const counted = async () => {
        const [row] = await postgres.query<{ calls: number }>(
          'postgres',
          `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements
           where dbid = (select oid from pg_database where datname = '${database}')`,
        );
        return row?.calls ?? 0;
      };
      results.push(
        await measure(`PostgreSQL, ${kind}`, postgres.url(database, 'actlog'), bodies(), port, counted),
      );
    }
  } finally {
    stop();
    if (typeof postgres === 'string') console.warn(`NOT TRIED on PostgreSQL: ${postgres}.`);
    else await postgres.destroy();
    rmSync(folder, { recursive: true });
  }
  return results;
}

async function measure(
  name: string,
  database: string,
  nextBody: () => string,
  sinkPort: number,
  statements: () => Promise<number>,
): Promise<ForwardingResult> {
  const server = await ChildServer.start('actlog', database);
  const { url, apiKey } = server;
  for (let recorded = 0; recorded < minEvents; ) {
    recorded += (await load({ url, apiKey, connections: 256, durationMs: 1000, nextBody })).requests;
  }
  const storage = await openStorage({ database, connections: 4 });
  try {
    const size = () => storage.read(tenantId, async (db) => (await logHead(db, tenantId)).size);
    while ((await size()) < minEvents) await setTimeout(100);
    await server.stop();
    const entries = await size();
    const measured: Round[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const one = await forward(storage, entries, sinkPort, statements);
      if (round > 0) measured.push(one);
    }
    const of = (value: (round: Round) => number) => median(measured.map(value));
    return {
      load: name,
      events: entries,
      eventsPerSecond: Math.round(of(({ seconds }) => entries / seconds)),
      cpuMicros: Number(of(({ cpuMicros }) => cpuMicros / entries).toFixed(1)),
      statements: Number(of((round) => (1000 * round.statements) / entries).toFixed(2)),
      block: Math.round(of(({ blocks }) => entries / blocks)),
      longestStallMs: Math.round(of(({ stallMs }) => stallMs)),
    };
  } finally {
    await server.stop();
    await storage.close();
  }
}

/** Forwards the whole log once. */
async function forward(
  storage: Storage,
  entries: number,
  sinkPort: number,
  statements: () => Promise<number>,
): Promise<Round> {
  await storage.write(tenantId, ({ db }) => db.deleteFrom('forward_positions').execute());
  const address = historySetting.parse(`http://actlog:bench@127.0.0.1:${sinkPort}/bench`);
  const settings = historyForwarding(0);
  const forwarder = new Forwarder({
    settings,
    destination: new HistoryDestination(new ClickHouse({ address, deployment: async () => 'bench' })),
    storage,
    metrics: new Metrics(() => 0),
    onFailure: ({ error }) => console.error(error),
  });
  const blocks = async () => Number(await (await fetch(`http://127.0.0.1:${sinkPort}/blocks`)).text());
  const blocksBefore = await blocks();
  const statementsBefore = await statements();
  const stalls = new Stalls();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  for (;;) {
    await forwarder.pass();
    await forwarder.idle();
    const position = await storage.read(tenantId, (db) => forwardPosition(db, tenantId, settings.name));
    if (position >= entries - 1) break;
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const stallMs = stalls.end();
  const round = {
    seconds,
    cpuMicros: user + system,
    statements: (await statements()) - statementsBefore,
    blocks: (await blocks()) - blocksBefore,
    stallMs,
  };
  await forwarder.close();
  return round;
}

/** Measures the longest time between two turns of the event loop. */
class Stalls {
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();
  #longestMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), 1);
  }

  end(): number {
    clearInterval(this.#timer);
    return this.#longestMs;
  }

  #tick(): void {
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
  }
}

/** Calls a function with every statement on SQLite, until the returned one is called. */
function countStatements(onStatement: () => void): () => void {
  const undo = [SqliteConnection.prototype, SqliteWriter.prototype].map((prototype) => {
    const counted = prototype as { execute: (...args: [string, readonly unknown[]]) => unknown };
    const { execute } = counted;
    counted.execute = function (this: unknown, ...args) {
      onStatement();
      return execute.apply(this, args);
    };
    return () => {
      counted.execute = execute;
    };
  });
  return () => {
    for (const each of undo) each();
  };
}
