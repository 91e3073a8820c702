import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { median } from '../measure/interleaved-rounds.ts';
import { BareInsert } from './bare-insert.ts';
import { agentIds, eventBodies, type IdVersion } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { type LoadResult, load } from './load.ts';

/** Durable ingest over HTTP beside a handler that validates the same body and stores nothing. */
export interface IngestResult {
  readonly eventsPerSecond: number;
  readonly bareRequestsPerSecond: number;
  /** Ratio of ours to bare within a turn; the limit is at least 0.55. */
  readonly ratio: number;
  readonly cpuMicros: number;
  readonly bareCpuMicros: number;
  readonly insertCpuMicros: number;
  /**
   * Ratio of our processor time to the sum of bare handler and bare insert within a turn; the limit is 1.3.
   */
  readonly cpuRatio: number;
  readonly p50Ms: number;
  /** The limit is 50. */
  readonly p99Ms: number;
  readonly refused: number;
}

/** Options of the ingest measurement. */
export interface IngestOptions {
  /** Concurrent callers that each wait for a response: with few of them, the server is idle at times. */
  readonly connections: number;
  /** Version of event ids. */
  readonly ids: IdVersion;
  readonly processes: number;
  readonly rounds: number;
  readonly roundMs: number;
}

interface Round extends LoadResult {
  readonly cpuMicros: number;
}

/** Time until the code is fully compiled, in milliseconds. */
const warmUpMs = 6000;

async function round(
  server: ChildServer,
  connections: number,
  nextBody: () => string,
  durationMs: number,
): Promise<Round> {
  const before = await server.usage();
  const result = await load({ url: server.url, apiKey: server.apiKey, connections, durationMs, nextBody });
  const after = await server.usage();
  return { ...result, cpuMicros: (after.cpuMicros - before.cpuMicros) / result.requests };
}

/** One round of each side. */
interface Turn {
  readonly bare: Round;
  readonly ours: Round;
  readonly insertCpuMicros: number;
}

/** A process of the handler, one of the server, and the insert. */
class Trio {
  readonly #folder: string;
  readonly #bare: ChildServer;
  readonly #ours: ChildServer;
  readonly #insert: BareInsert;
  readonly #connections: number;
  readonly #nextBody: () => string;

  private constructor(folder: string, bare: ChildServer, ours: ChildServer, options: IngestOptions) {
    this.#connections = options.connections;
    this.#folder = folder;
    this.#bare = bare;
    this.#ours = ours;
    this.#nextBody = eventBodies(50, options.ids);
    this.#insert = new BareInsert(join(folder, 'insert.db'), options.ids);
  }

  /** Starts them, and runs them until their code is fully compiled. */
  static async start(options: IngestOptions): Promise<Trio> {
    const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
    const bare = await ChildServer.start('bare');
    const ours = await ChildServer.start('actlog', join(folder, 'bench.db'), {
      // `npm run bench -- server log` measures the log.
      settings: { keepLog: false },
    });
    // Without them, every response would have a warning and be longer than the handler's.
    const client = new Actlog({ baseURL: ours.url, apiKey: ours.apiKey });
    for (const id of agentIds) await client.agents.create({ id, name: id });
    const trio = new Trio(folder, bare, ours, options);
    await trio.turn(warmUpMs);
    return trio;
  }

  /** Inserts as many events as the server, so that their tables have the same size. */
  async turn(roundMs: number): Promise<Turn> {
    const bare = await round(this.#bare, this.#connections, this.#nextBody, roundMs);
    const ours = await round(this.#ours, this.#connections, this.#nextBody, roundMs);
    return { bare, ours, insertCpuMicros: this.#insert.insert(ours.requests) };
  }

  async stop(): Promise<void> {
    this.#insert.close();
    await this.#bare.stop();
    await this.#ours.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

/**
 * Measures handler, insert and server in turn, and compares them within a turn, so that other load and the clock rate
 * affect all three alike. Several processes of each take turns, because the same code runs up to a tenth faster in one
 * process than in another, depending on its memory layout.
 */
export async function measureIngest(options: IngestOptions): Promise<IngestResult> {
  const { processes, rounds, roundMs } = options;
  const trios: Trio[] = [];
  const turns: Turn[] = [];
  try {
    for (let index = 0; index < processes; index += 1) trios.push(await Trio.start(options));
    for (let index = 0; index < rounds; index += 1) {
      for (const trio of trios) turns.push(await trio.turn(roundMs));
    }
  } finally {
    for (const trio of trios) await trio.stop();
  }
  const middle = (of: (turn: Turn) => number) => median(turns.map(of));
  return {
    eventsPerSecond: middle(({ ours }) => ours.requestsPerSecond),
    bareRequestsPerSecond: middle(({ bare }) => bare.requestsPerSecond),
    ratio: middle(({ bare, ours }) => ours.requestsPerSecond / bare.requestsPerSecond),
    cpuMicros: middle(({ ours }) => ours.cpuMicros),
    bareCpuMicros: middle(({ bare }) => bare.cpuMicros),
    insertCpuMicros: middle((turn) => turn.insertCpuMicros),
    cpuRatio: middle((turn) => turn.ours.cpuMicros / (turn.bare.cpuMicros + turn.insertCpuMicros)),
    p50Ms: middle(({ ours }) => ours.p50Ms),
    p99Ms: middle(({ ours }) => ours.p99Ms),
    refused: turns.reduce((sum, { ours }) => sum + ours.refused, 0),
  };
}
