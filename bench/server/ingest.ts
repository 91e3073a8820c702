import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../measure/interleaved-rounds.ts';
import { BareInsert } from './bare-insert.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { type LoadResult, load } from './load.ts';

/** Durable ingest over HTTP beside a handler that validates the same body and stores nothing. */
export interface IngestResult {
  readonly eventsPerSecond: number;
  readonly bareRequestsPerSecond: number;
  /** Ours over bare, within a turn; at least 0.55 is asked for. */
  readonly ratio: number;
  readonly cpuMicros: number;
  readonly bareCpuMicros: number;
  readonly insertCpuMicros: number;
  /** Our processor time over the sum of bare handler and bare insert, within a turn; at most 1.3 is asked for. */
  readonly cpuRatio: number;
  readonly p50Ms: number;
  /** At most 50 is asked for. */
  readonly p99Ms: number;
  readonly refused: number;
}

interface Round extends LoadResult {
  readonly cpuMicros: number;
}

const connections = 64;

/** Until the code is compiled for good. */
const warmUpMs = 6000;

async function round(server: ChildServer, nextBody: () => string, durationMs: number): Promise<Round> {
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

/**
 * Measures handler, insert and server in turn, and compares them within a turn: what else the machine does, and how
 * fast it runs just then, falls on all three. The insert puts in as many events as the server, so that their tables
 * are of one size.
 */
export async function measureIngest(rounds: number, roundMs: number): Promise<IngestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const bare = await ChildServer.start('bare');
  const ours = await ChildServer.start('actlog', join(folder, 'bench.db'));
  const insert = new BareInsert(join(folder, 'insert.db'));
  const bodies = eventBodies(50);
  const turns: Turn[] = [];
  try {
    await round(bare, bodies, warmUpMs);
    insert.insert((await round(ours, bodies, warmUpMs)).requests);
    for (let index = 0; index < rounds; index += 1) {
      const bareRound = await round(bare, bodies, roundMs);
      const ourRound = await round(ours, bodies, roundMs);
      turns.push({ bare: bareRound, ours: ourRound, insertCpuMicros: insert.insert(ourRound.requests) });
    }
  } finally {
    insert.close();
    await bare.stop();
    await ours.stop();
    rmSync(folder, { recursive: true });
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
