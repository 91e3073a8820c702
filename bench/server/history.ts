import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { median } from '../measure/interleaved-rounds.ts';
import { ChildServer } from './child-server.ts';
import { type LoadResult, load } from './load.ts';
import { largeSession, seed } from './seed.ts';

/** Cost of a check whose condition reads the history, in a session of a million events, beside one with a rate. */
export interface HistoryResult {
  readonly events: number;
  readonly historyP50Ms: number;
  readonly rateP50Ms: number;
  readonly historyP99Ms: number;
  readonly rateP99Ms: number;
  /** Added milliseconds at the 99th percentile within a turn; the limit is 1. */
  readonly addedP99Ms: number;
  readonly refused: number;
}

/** Options of the measurement. */
export interface HistoryOptions {
  /** Events of the session. */
  readonly events: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** Time until the code is fully compiled and the history has its largest size, in milliseconds. */
const warmUpMs = 4000;

let number = 0;

function round(server: ChildServer, toolName: string, durationMs: number): Promise<LoadResult> {
  const nextBody = () => {
    number += 1;
    return JSON.stringify({
      agentId: 'agent-1',
      sessionId: largeSession,
      actionId: `action-${number}`,
      action: { toolName, argumentsHash: `sha256:${number}`, arguments: { amount: 1 } },
    });
  };
  const { url, apiKey } = server;
  return load({ url, apiKey, connections: 1, durationMs, path: '/v1/policies/check', nextBody });
}

/**
 * Measures checks with a condition on the history and checks with a rate in turns: both are written, so the difference is
 * that of reading and keeping the history.
 */
export async function measureHistory({ events, rounds, roundMs }: HistoryOptions): Promise<HistoryResult> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const file = join(folder, 'actlog.db');
  const turns: { readonly history: LoadResult; readonly rate: LoadResult }[] = [];
  try {
    await seed(file, { events: events * 10, sessions: 1000 });
    const server = await ChildServer.start('actlog', file, { settings: { rateLimit: false } });
    try {
      const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
      await client.policies.create({
        name: 'history',
        effect: 'deny',
        match: { tools: ['pay'] },
        condition:
          'session.count("pay", duration("1h")) > 1000000 || session.sum("pay", "amount", duration("1h")) > 1.0e9',
      });
      await client.policies.create({
        name: 'rate',
        effect: 'deny',
        match: { tools: ['buy'] },
        rate: { max: 1_000_000, windowSeconds: 3600, per: 'session' },
      });
      const turn = async (durationMs: number) => ({
        rate: await round(server, 'buy', durationMs),
        history: await round(server, 'pay', durationMs),
      });
      await turn(warmUpMs);
      for (let index = 0; index < rounds; index += 1) turns.push(await turn(roundMs));
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const middle = (of: (one: (typeof turns)[number]) => number) => median(turns.map(of));
  return {
    events,
    historyP50Ms: middle(({ history }) => history.p50Ms),
    rateP50Ms: middle(({ rate }) => rate.p50Ms),
    historyP99Ms: middle(({ history }) => history.p99Ms),
    rateP99Ms: middle(({ rate }) => rate.p99Ms),
    addedP99Ms: middle(({ history, rate }) => history.p99Ms - rate.p99Ms),
    refused: turns.reduce((sum, { history, rate }) => sum + history.refused + rate.refused, 0),
  };
}
