import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { median } from '../measure/interleaved-rounds.ts';
import { ChildServer } from './child-server.ts';
import { type LoadResult, load } from './load.ts';

/** Cost of keeping the decision of every check, beside a server that keeps none. */
export interface ChecksResult {
  readonly checksPerSecond: number;
  readonly cpuMicros: number;
  readonly withoutCpuMicros: number;
  /** Ratio of the processor time with decisions to that without within a turn; the limit is 1.1. */
  readonly cpuRatio: number;
  readonly p50Ms: number;
  readonly withoutP50Ms: number;
  readonly p99Ms: number;
  readonly withoutP99Ms: number;
  readonly refused: number;
}

/** Options of the measurement. */
export interface ChecksOptions {
  /** Concurrent callers that each wait for a response. */
  readonly connections: number;
  readonly processes: number;
  readonly rounds: number;
  readonly roundMs: number;
}

interface Round extends LoadResult {
  readonly cpuMicros: number;
}

interface Pair {
  readonly kept: ChildServer;
  readonly without: ChildServer;
}

/** Time until the code is fully compiled, in milliseconds. */
const warmUpMs = 4000;

/** Policies of each tenant, of which one matches every third check. */
const policies = 20;

let number = 0;

/** Returns the body of a check as a guard sends it. */
function nextBody(): string {
  number += 1;
  return JSON.stringify({
    agentId: `agent-${number % 20}`,
    sessionId: `session-${number % 500}`,
    action: {
      toolName: number % 3 === 0 ? 'tool-0' : `search-${number % 7}`,
      argumentsHash: `sha256:${String(number).padStart(64, '0')}`,
    },
    framework: 'ai-sdk',
    environment: 'production',
    actionId: `action-${number}`,
  });
}

async function round(server: ChildServer, connections: number, durationMs: number): Promise<Round> {
  const before = await server.usage();
  const { url, apiKey } = server;
  const result = await load({
    url,
    apiKey,
    connections,
    durationMs,
    path: '/v1/policies/check',
    nextBody,
  });
  const after = await server.usage();
  return { ...result, cpuMicros: (after.cpuMicros - before.cpuMicros) / result.requests };
}

async function startServer(folder: string, keepDecisions: boolean): Promise<ChildServer> {
  const server = await ChildServer.start('actlog', join(folder, `${keepDecisions}.db`), {
    settings: { keepDecisions, quotas: { policyCost: null } },
  });
  const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  for (let index = 0; index < policies; index += 1) {
    await client.policies.create({
      name: `policy ${index}`,
      effect: 'allow',
      match: { tools: [`tool-${index}`] },
      condition: "environment == 'production'",
    });
  }
  return server;
}

/**
 * Measures checks with and without kept decisions in turn, and compares them within a turn. Several processes of each
 * take turns, because the same code runs up to a tenth faster in one process than in the next.
 */
export async function measureChecks(options: ChecksOptions): Promise<ChecksResult> {
  const { connections, processes, rounds, roundMs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const pairs: Pair[] = [];
  const turns: { readonly kept: Round; readonly without: Round }[] = [];
  const turn = async ({ kept, without }: Pair, durationMs: number) => ({
    without: await round(without, connections, durationMs),
    kept: await round(kept, connections, durationMs),
  });
  try {
    for (let index = 0; index < processes; index += 1) {
      const own = mkdtempSync(join(folder, 'pair-'));
      const pair = { kept: await startServer(own, true), without: await startServer(own, false) };
      pairs.push(pair);
      await turn(pair, warmUpMs);
    }
    for (let index = 0; index < rounds; index += 1) {
      for (const pair of pairs) turns.push(await turn(pair, roundMs));
    }
  } finally {
    for (const { kept, without } of pairs) await Promise.all([kept.stop(), without.stop()]);
    rmSync(folder, { recursive: true });
  }
  const middle = (of: (one: (typeof turns)[number]) => number) => median(turns.map(of));
  return {
    checksPerSecond: middle(({ kept }) => kept.requestsPerSecond),
    cpuMicros: middle(({ kept }) => kept.cpuMicros),
    withoutCpuMicros: middle(({ without }) => without.cpuMicros),
    cpuRatio: middle(({ kept, without }) => kept.cpuMicros / without.cpuMicros),
    p50Ms: middle(({ kept }) => kept.p50Ms),
    withoutP50Ms: middle(({ without }) => without.p50Ms),
    p99Ms: middle(({ kept }) => kept.p99Ms),
    withoutP99Ms: middle(({ without }) => without.p99Ms),
    refused: turns.reduce((sum, { kept, without }) => sum + kept.refused + without.refused, 0),
  };
}
