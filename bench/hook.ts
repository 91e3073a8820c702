import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { interleave } from './measure/interleaved-rounds.ts';

/** One-line description of this benchmark. */
export const description =
  'A hook of a coding agent, built, against bare Node: time before a tool, with and without a check, and after it';

/** Limit above bare Node, in milliseconds. */
const limitMs = 60;

const command = fileURLToPath(new URL('../packages/cli/dist/bin.js', import.meta.url));
const enforce = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** One event of an agent, and the flags of the hook. */
interface Case {
  readonly event: 'PreToolUse' | 'PostToolUse';
  readonly flags: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  beforeTool: { event: 'PreToolUse', flags: [] },
  beforeToolWithCheck: { event: 'PreToolUse', flags: enforce },
  afterTool: { event: 'PostToolUse', flags: [] },
};

function eventOf(name: string, call: number): string {
  return JSON.stringify({
    hook_event_name: name,
    session_id: 'session-1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Run the tests' },
    tool_use_id: `toolu_${call}`,
    ...(name === 'PostToolUse' ? { tool_response: { stdout: 'ok', stderr: '', interrupted: false } } : {}),
  });
}

/** Returns the milliseconds from the start of a Node process to its end. */
async function timeOf(args: readonly string[], input: string, env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.on('error', () => {}); // bare Node ends without reading
  child.stdin.end(input);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The hook ended with ${code}.`);
  return performance.now() - startedAt;
}

/** Waits until an event has arrived, so that a hook that starts no delivery is not taken for a fast one. */
async function untilDelivered(service: ChildProcess): Promise<void> {
  const endsAt = performance.now() + 30_000;
  while (performance.now() < endsAt) {
    service.send('count');
    const [count] = await once(service, 'message');
    if (count > 0) return;
    await delay(100);
  }
  throw new Error('No event was delivered.');
}

/** Runs the benchmark; `--json` omits the table. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  if (!existsSync(command)) throw new Error(`${command} is missing: run "npm run build" first.`);
  const folder = await mkdtemp(join(tmpdir(), 'actlog-bench-hook-'));
  const service = fork(fileURLToPath(new URL('./hook/service-process.ts', import.meta.url)));
  try {
    const [port] = await once(service, 'message');
    const env = {
      ...process.env,
      ACTLOG_BASE_URL: `http://127.0.0.1:${port}`,
      ACTLOG_API_KEY: 'al_test_benchmark',
      ACTLOG_SPOOL_DIR: folder,
    };
    const rounds = args.includes('--quick') ? 5 : 25;
    const result: Record<string, unknown> = {};
    let call = 0;
    for (const [name, { event, flags }] of Object.entries(cases)) {
      const { bare, ours } = await interleave(
        rounds,
        () => timeOf(['--eval', '0'], '', env),
        () => timeOf([command, 'hook', 'claude-code', ...flags], eventOf(event, ++call), env),
      );
      const aboveMs = Number((ours - bare).toFixed(1));
      result[name] = { bareMs: bare, hookMs: ours, aboveMs, limit: `at most ${limitMs} ms above bare Node` };
    }
    await untilDelivered(service);
    if (!args.includes('--json')) console.table(result);
    return result;
  } finally {
    service.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
