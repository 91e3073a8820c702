import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Actlog, type PolicyCreate } from '@actlog/client';
import { backtestPolicies } from '@actlog/client/server';
import { ChildServer } from './child-server.ts';

/** Time of a backtest over many decisions, and of health checks beside it. */
export interface BacktestTimes {
  readonly decisions: number;
  readonly policies: number;
  /** The limit for a million decisions is 60. */
  readonly seconds: number;
  readonly changed: number;
  readonly cannotTell: number;
  /** Slowest `GET /healthz` while the backtest runs, in milliseconds. */
  readonly slowestHealthMs: number;
}

const agents = 50;
const tools = 40;

/** Returns policies of the kinds that people write: names, conditions on arguments, and a rate. */
function draft(count: number): PolicyCreate[] {
  return Array.from({ length: count }, (_, index): PolicyCreate => {
    const match = { tools: [`tool-${index}`, `delete-${index}*`] };
    if (index % 4 === 0) return { name: `p${index}`, effect: 'deny', match };
    if (index % 4 === 1) return { name: `p${index}`, effect: 'deny', match, condition: 'args.amount > 500' };
    if (index % 4 === 2) {
      return { name: `p${index}`, effect: 'allow', match, condition: "environment == 'production'" };
    }
    const rate = { max: 100, windowSeconds: 3600, per: 'agent' } as const;
    return { name: `p${index}`, effect: 'require_approval', match, rate };
  });
}

/** Fills the table of decisions by SQL, with one decision every two seconds. */
function seedDecisions(file: string, count: number): void {
  const database = new DatabaseSync(file);
  database.exec('pragma synchronous = off; pragma cache_size = -262144; begin');
  const startMs = Date.now() - count * 2000;
  const time = `(${startMs} + n * 2000)`;
  database.exec(`
    with recursive counter(n) as (select 0 union all select n + 1 from counter where n + 1 < ${count})
    insert into policy_decisions
      (tenant_id, id, decided_ms, agent_id, session_id, action_id, tool_name, arguments_hash, framework, environment,
       decision, decided_by, pending_action_id, dry_run, duration_us, matched, arguments, origins)
    select 1, printf('dec_%012x7000%016x', ${time}, n), ${time}, 'agent-' || (n % ${agents}), 'session-' || (n / 100),
      'action-' || n, 'tool-' || (n % ${tools}), 'sha256:' || n, 'ai-sdk', 'production', 'allow', null, null, 0, 100, null,
      iif(n % 3 = 0, null, '{"amount":' || (n % 1000) || ',"to":"someone"}'), null
    from counter;
    commit; analyze`);
  database.close();
}

/** Measures a backtest of a number of policies over a number of decisions. */
export async function measureBacktest(decisions: number, policies: number): Promise<BacktestTimes> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const file = join(folder, 'bench.db');
  const start = () => ChildServer.start('actlog', file, { settings: { quotas: { policyCost: null } } });
  try {
    await (await start()).stop();
    seedDecisions(file, decisions);
    const server = await start();
    const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
    let slowestHealthMs = 0;
    let isRunning = true;
    const watching = (async () => {
      while (isRunning) {
        const sentAt = performance.now();
        await (await fetch(`${server.url}/healthz`)).arrayBuffer();
        slowestHealthMs = Math.max(slowestHealthMs, performance.now() - sentAt);
      }
    })();
    const startedAt = performance.now();
    const result = await backtestPolicies(client, { policies: draft(policies), since: new Date(0) });
    const seconds = (performance.now() - startedAt) / 1000;
    isRunning = false;
    await watching;
    await server.stop();
    const { changed, cannotTell } = result;
    return { decisions: result.decisions, policies, seconds, changed, cannotTell, slowestHealthMs };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
