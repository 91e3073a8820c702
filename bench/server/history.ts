import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
  const answered = await response.text();
  const ms = performance.now() - startedMs;
  // A denial writes more than an allowed check, and would be compared with one.
  if (!answered.includes('"decision":"allow"')) throw new Error(`A check was not allowed: ${answered}`);
  return ms;
}

/** Creates both policies, as old as the large session: its history is known, so that its checks are allowed. */
async function createPolicies(file: string): Promise<void> {
  const server = await ChildServer.start('actlog', file);
  const { policies } = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  await policies.create({
    name: 'history',
    effect: 'deny',
    match: { tools: ['pay'] },
    condition:
      'session.count("pay", duration("1h")) > 1000000 || session.sum("pay", "amount", duration("1h")) > 1.0e9',
  });
  await policies.create({
    name: 'rate',
    effect: 'deny',
    match: { tools: ['buy'] },
    rate: { max: 1_000_000, windowSeconds: 3600, per: 'session' },
  });
  await server.stop();
  const database = new DatabaseSync(file);
  database.exec(
    'update policies set created_ms = s.started_ms, updated_ms = s.started_ms ' +
      `from (select min(started_ms) as started_ms from sessions where id = '${largeSession}') as s`,
  );
  database.close();
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
    await seed(file, { events: Math.ceil(events / 9) * 10, largeTenths: 9 });
    await createPolicies(file);
    const server = await ChildServer.start('actlog', file, { settings: { rateLimit: false } });
    try {
      for (let index = 0; index < pairs * 2; index += 1) {
        // In turns first, because a check may wait for what the one before left to do.
        const [first, second] = index % 2 === 0 ? (['buy', 'pay'] as const) : (['pay', 'buy'] as const);
        const times = { [first]: await check(server, first), [second]: await check(server, second) };
        if (index >= pairs) measured.push({ rate: Number(times.buy), history: Number(times.pay) });
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
