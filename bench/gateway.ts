import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { type ServiceAddress, startService } from './gateway/service-process.ts';
import { ToolCaller } from './gateway/tool-caller.ts';
import { fromSource } from './measure/from-source.ts';
import { median } from './measure/interleaved-rounds.ts';

/** One-line description of this benchmark. */
export const description =
  'Time that the gateway for MCP adds to a tool call over stdio, with the guard off and on';

const gateway = [process.execPath, ...fromSource, join(import.meta.dirname, 'gateway/gateway-process.ts')];
const manifest = new URL('../packages/gateway/package.json', import.meta.url);
const everything = createRequire(manifest).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const server = [process.execPath, everything, 'stdio'];

/** Sides of the comparison, whose calls take turns. */
const sides = ['direct', 'gateway', 'guarded', 'check'] as const;

type Side = (typeof sides)[number];

/** Makes one call of a side. */
type Call = () => Promise<unknown>;

async function measure(calls: Readonly<Record<Side, Call>>, rounds: number): Promise<Record<Side, number>> {
  const times: Record<Side, number[]> = { direct: [], gateway: [], guarded: [], check: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < sides.length; turn += 1) {
      const side = sides[(turn + round) % sides.length] as Side;
      const startedAt = performance.now();
      await calls[side]();
      // The first tenth warms up.
      if (round >= rounds / 10) times[side].push(performance.now() - startedAt);
    }
  }
  const p50 = (side: Side) => Number(median(times[side]).toFixed(3));
  return { direct: p50('direct'), gateway: p50('gateway'), guarded: p50('guarded'), check: p50('check') };
}

function environment({ url, apiKey }: ServiceAddress, spoolDir: string): Record<string, string> {
  return {
    ...(process.env as Record<string, string>),
    ACTLOG_BASE_URL: url,
    ACTLOG_API_KEY: apiKey,
    ACTLOG_SPOOL_DIR: spoolDir,
  };
}

/** Runs the benchmark; `--json` omits the table. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = args.includes('--quick') ? 200 : 2000;
  const spoolDir = mkdtempSync(join(tmpdir(), 'actlog-bench-gateway-'));
  const service = await startService();
  const env = environment(service, spoolDir);
  const guard = ['--guard', 'enforce', '--on-unavailable', 'deny'];
  const callers = {
    direct: new ToolCaller(server, env),
    gateway: new ToolCaller([...gateway, '--guard', 'off', '--', ...server], env),
    guarded: new ToolCaller([...gateway, ...guard, '--', ...server], env),
  };
  const client = new Actlog({ baseURL: service.url, apiKey: service.apiKey });
  const action = { toolName: 'echo', argumentsHash: `sha256:${'0'.repeat(64)}` };
  try {
    for (const caller of Object.values(callers)) await caller.initialize();
    const p50Ms = await measure(
      {
        direct: () => callers.direct.call(),
        gateway: () => callers.gateway.call(),
        guarded: () => callers.guarded.call(),
        check: () => client.policies.check({ agentId: 'bench', sessionId: 'bench', action }),
      },
      rounds,
    );
    const added = (ms: number) => Number(ms.toFixed(3));
    const result = {
      p50Ms,
      addedMs: added(p50Ms.gateway - p50Ms.direct),
      addedOverCheckMs: added(p50Ms.guarded - p50Ms.direct - p50Ms.check),
      limits: { addedMs: 'at most 5', addedOverCheckMs: 'at most 1' },
    };
    if (!args.includes('--json')) console.table(result);
    return result;
  } finally {
    await Promise.all(Object.values(callers).map((caller) => caller.close()));
    service.stop();
    rmSync(spoolDir, { recursive: true, force: true });
  }
}
