import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { median } from '../measure/interleaved-rounds.ts';
import { ChildServer } from './child-server.ts';
import { largeSession, seed } from './seed.ts';

/** Cost of a check whose condition reads the history, in a session of a million events, beside one with a rate. */
export interface HistoryResult {
  readonly events: number;
  readonly historyP50Ms: number;
  readonly rateP50Ms: number;
  readonly historyP99Ms: number;
  readonly rateP99Ms: number;
  /** Median of the added milliseconds within a pair of checks. */
  readonly addedP50Ms: number;
  /** Added milliseconds at the 99th percentile; the limit is 1. On a busy machine, compare the medians. */
  readonly addedP99Ms: number;
}

/** Options of the measurement. */
export interface HistoryOptions {
  /** Events of the session. */
  readonly events: number;
  /** Pairs of checks, after as many that warm up. */
  readonly pairs: number;
}

let number = 0;

/** Returns the milliseconds of one check. */
async function check({ url, apiKey }: ChildServer, toolName: string): Promise<number> {
  number += 1;
  const body = JSON.stringify({
    agentId: 'agent-1',
    sessionId: largeSession,
    actionId: `action-${number}`,
    action: { toolName, argumentsHash: `sha256:${number}`, arguments: { amount: 1 } },
  });
  const startedMs = performance.now();
  const response = await fetch(`${url}/v1/policies/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body,
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`The response to a check was ${response.status}.`);
  return performance.now() - startedMs;
}

/**
 * Measures checks with a condition on the history and checks with a rate in pairs: both are written, so the difference is
 * that of reading and keeping the history.
 */
export async function measureHistory({ events, pairs }: HistoryOptions): Promise<HistoryResult> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const file = join(folder, 'actlog.db');
  const measured: { readonly history: number; readonly rate: number }[] = [];
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
      for (let index = 0; index < pairs * 2; index += 1) {
        const pair = { rate: await check(server, 'buy'), history: await check(server, 'pay') };
        if (index >= pairs) measured.push(pair);
      }
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const history = measured.map((pair) => pair.history);
  const rate = measured.map((pair) => pair.rate);
  return {
    events,
    historyP50Ms: median(history),
    rateP50Ms: median(rate),
    historyP99Ms: p99(history),
    rateP99Ms: p99(rate),
    addedP50Ms: median(measured.map((pair) => pair.history - pair.rate)),
    addedP99Ms: p99(history) - p99(rate),
  };
}

function p99(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor((times.length - 1) * 0.99)] ?? 0;
}
