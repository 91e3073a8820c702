import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../measure/interleaved-rounds.ts';
import { bareInsertMicros } from './bare-insert.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { type LoadResult, load } from './load.ts';

/** Durable ingest over HTTP beside a handler that validates the same body and stores nothing. */
export interface IngestResult {
  readonly eventsPerSecond: number;
  readonly bareRequestsPerSecond: number;
  /** Ours over bare; at least 0.55 is asked for. */
  readonly ratio: number;
  readonly cpuMicros: number;
  readonly bareCpuMicros: number;
  readonly insertCpuMicros: number;
  /** Our processor time over the sum of bare handler and bare insert; at most 1.3 is asked for. */
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

/** Measures both in turn, so that what else the machine does falls on both. */
export async function measureIngest(rounds: number, roundMs: number): Promise<IngestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const bare = await ChildServer.start('bare');
  const ours = await ChildServer.start('actlog', join(folder, 'bench.db'));
  const bodies = eventBodies(50);
  const bareRounds: Round[] = [];
  const ourRounds: Round[] = [];
  try {
    for (const server of [bare, ours]) await round(server, bodies, warmUpMs);
    for (let index = 0; index < rounds; index += 1) {
      bareRounds.push(await round(bare, bodies, roundMs));
      ourRounds.push(await round(ours, bodies, roundMs));
    }
  } finally {
    await bare.stop();
    await ours.stop();
  }
  const stored = ourRounds.reduce((sum, { requests }) => sum + requests, 0);
  // A table of the size that ours has half way.
  const insertCpuMicros = bareInsertMicros(join(folder, 'insert.db'), Math.floor(stored / 2));
  rmSync(folder, { recursive: true });
  const of = (all: readonly Round[], field: keyof Round) => median(all.map((one) => one[field]));
  const eventsPerSecond = of(ourRounds, 'requestsPerSecond');
  const bareRequestsPerSecond = of(bareRounds, 'requestsPerSecond');
  const cpuMicros = of(ourRounds, 'cpuMicros');
  const bareCpuMicros = of(bareRounds, 'cpuMicros');
  return {
    eventsPerSecond,
    bareRequestsPerSecond,
    ratio: eventsPerSecond / bareRequestsPerSecond,
    cpuMicros,
    bareCpuMicros,
    insertCpuMicros,
    cpuRatio: cpuMicros / (bareCpuMicros + insertCpuMicros),
    p50Ms: of(ourRounds, 'p50Ms'),
    p99Ms: of(ourRounds, 'p99Ms'),
    refused: ourRounds.reduce((sum, { refused }) => sum + refused, 0),
  };
}
