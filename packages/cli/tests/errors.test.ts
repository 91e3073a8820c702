import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { subcommands } from '../src/subcommands.ts';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

const bin = join(import.meta.dirname, '..', 'src', 'bin.ts');

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

it('exits with 2 without an address, and says how to set one', async () => {
  const { stderr, exitCode } = await actlog(['sessions', 'list'], { env: { ACTLOG_API_KEY: 'al_test_x' } });
  expect(stderr).toMatch(/^error: No address is set: export ACTLOG_BASE_URL, or pass --base-url\..*\n$/);
  expect(exitCode).toBe(2);
});

it('exits with 4 without a key, and says how to set one', async () => {
  const { stderr, exitCode } = await actlog(['sessions', 'list', '--base-url', service.server.url]);
  expect(stderr).toMatch(/^error: No API key is set: export ACTLOG_API_KEY.*\n$/);
  expect(exitCode).toBe(4);
});

it('exits with 4 for a rejected key, and does not show it', async () => {
  const ACTLOG_API_KEY = 'al_test_unknown0000000000000000000000000000000000000000';
  const { stderr, exitCode } = await actlog(['sessions', 'list'], {
    env: { ...service.env, ACTLOG_API_KEY },
  });
  expect(stderr).toMatch(/^error: The service rejected the API key: .*\n$/);
  expect(stderr).not.toContain(ACTLOG_API_KEY);
  expect(exitCode).toBe(4);
});

it('exits with 4 for a key without the permission, and names the scope', async () => {
  const create = ['policies', 'create', '--name', 'x', '--effect', 'deny'];
  const { stderr, exitCode } = await actlog(create, { env: service.agentEnv });
  expect(stderr).toMatch(/^error: .*manage.*\n$/);
  expect(exitCode).toBe(4);
});

it('exits with 3 for a service that cannot be reached', async () => {
  const gone = await TestService.start();
  await gone.close();
  const { stderr, exitCode } = await actlog(['sessions', 'list'], { env: gone.env });
  expect(stderr).toMatch(/^error: .* Check --base-url or ACTLOG_BASE_URL, and that the service runs\.\n$/);
  expect(exitCode).toBe(3);
});

it.each([
  [['sessions', 'show', 'nope'], 'There is no session "nope": `actlog sessions list` shows the ids.'],
  [['agents', 'show', 'a/b'], 'There is no agent "a/b": `actlog agents list` shows the ids.'],
  [['policies', 'show', 'nope'], 'There is no policy "nope": `actlog policies list` shows the ids.'],
  [['guardian', 'deny', 'nope'], 'There is no held action "nope": `actlog guardian list` shows the ids.'],
])('exits with 1 for the unknown id of %j', async (args, message) => {
  const { stderr, exitCode } = await actlog(args, { env: service.env });
  expect({ stderr, exitCode }).toEqual({ stderr: `error: ${message}\n`, exitCode: 1 });
});

it.each([
  [['sesions'], "unknown command 'sesions'\n(Did you mean sessions?)"],
  [['sessions', 'lst'], "unknown command 'lst'\n(Did you mean list?)"],
  [['sessions', 'list', '--limt', '3'], "unknown option '--limt'\n(Did you mean --limit?)"],
  [['keys', 'creat'], "unknown command 'creat'\n(Did you mean create?)"],
  [['sessions', 'list', '--since', '1y'], 'It must be a duration before now, such as 24h or 7d'],
  [['sessions', 'list', '--limit', '0'], 'It must be a whole number of at least 1.'],
  [['sessions', 'list', '--json', '--jsonl'], "option '--json' cannot be used with option '--jsonl'"],
  [['agents', 'update', 'billing'], 'Nothing to change: add a field, such as --name or --status.'],
  [['events', 'send', '--agent', 'a'], 'An event needs an agent and a session'],
])('exits with 2 for %j, and says what to change', async (args, message) => {
  const { stderr, stdout, exitCode } = await actlog(args, { env: service.env, cwd: folder });
  expect(stderr).toContain(message);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
});

it('reads the address and the key from a file, which precedes the environment', async () => {
  const file = join(folder, 'actlog.env');
  writeFileSync(file, `ACTLOG_BASE_URL=${service.server.url}\nACTLOG_API_KEY="${service.server.apiKey}"\n`);
  const env = { ACTLOG_BASE_URL: 'http://127.0.0.1:1', ACTLOG_API_KEY: 'al_test_other' };
  const { stdout, exitCode } = await actlog(['sessions', 'list', '--json', '--env-file', file], { env });
  expect({ stdout, exitCode }).toEqual({ stdout: '[]\n', exitCode: 0 });
});

it('fails for a missing --env-file, and names it', async () => {
  const { stderr, exitCode } = await actlog(['sessions', 'list', '--env-file', 'absent.env']);
  expect(stderr).toContain('absent.env');
  // Node.js reads the option too, wherever it stands, and may be the first to fail.
  expect([2, 9]).toContain(exitCode);
});

it('names the line of a file with an invalid event, and shows nothing of it', async () => {
  const input = '{"agentId":"a"\nsecret text';
  const { stderr, exitCode } = await actlog(['events', 'send', '--file', '-'], { env: service.env, input });
  expect({ stderr, exitCode }).toEqual({
    stderr: 'error: Line 1 of standard input must be a JSON object.\n',
    exitCode: 2,
  });
});

it('passes the findings of the service on, for a field that it refuses', async () => {
  const create = ['policies', 'create', '--name', 'x', '--effect', 'deny', '--condition', 'args.amount >'];
  const { stderr, exitCode } = await actlog(create, { env: service.env });
  expect(stderr).toMatch(/^error: .*condition.*\n$/s);
  expect(exitCode).toBe(1);
});

/** Returns the arguments of each command that calls a service, with a word for each argument and required option. */
async function callingCommands(): Promise<string[][]> {
  const found: string[][] = [];
  const walk = (command: Command, path: readonly string[]) => {
    for (const inner of command.commands) walk(inner, [...path, inner.name()]);
    if (!command.options.some(({ long }) => long === '--base-url')) return;
    const words = command.registeredArguments.filter(({ required }) => required).map(() => 'x');
    const options = command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long }) => [`${long}`, 'x']);
    found.push([...path, ...words, ...options]);
  };
  for (const [name, subcommand] of Object.entries(subcommands)) {
    // The first asks questions; the second also says what to change in a program.
    const isExempt = name === 'init' || name === 'doctor';
    if ('load' in subcommand && !isExempt) walk(await subcommand.load(), [name]);
  }
  return found;
}

it.each<[string, Record<string, string>]>([
  ['an address that is none', { ACTLOG_BASE_URL: 'nowhere' }],
  ['an address with credentials', { ACTLOG_BASE_URL: 'https://a:b@actlog.invalid' }],
  ['an address that ends in /v1', { ACTLOG_BASE_URL: 'https://actlog.invalid/v1' }],
  ['an address without encryption', { ACTLOG_BASE_URL: 'http://actlog.invalid' }],
  ['a key of another service', { ACTLOG_API_KEY: 'sk-other' }],
  ['a key with a space', { ACTLOG_API_KEY: 'al_test_a b' }],
  ['a log level that is none', { ACTLOG_LOG: 'loud' }],
])('speaks of flags and variables, not of options of the SDK, for %s', async (_what, env) => {
  const valid = { ACTLOG_BASE_URL: 'http://127.0.0.1:1', ACTLOG_API_KEY: 'al_test_x'.padEnd(50, '0') };
  const commands = await callingCommands();
  expect(commands.length).toBeGreaterThan(40);
  for (const args of commands) {
    const { stdout, stderr } = await actlog(args, { env: { ...valid, ...env }, cwd: folder, input: '' });
    expect(`${args.join(' ')}: ${stdout}${stderr}`).not.toMatch(
      /\b(?:baseURL|apiKey|allowInsecureHttp|timeoutMs|logLevel|maxRetries|maxResponseBytes)\b/,
    );
  }
});

it('holds for 15 minutes and then denies, unless the options say otherwise', async () => {
  const create = ['policies', 'create', '--name', 'x', '--effect', 'require_approval', '--json'];
  const created = async (...options: string[]) => {
    const { stdout } = await actlog([...create, ...options], { env: service.env });
    return JSON.parse(stdout) as { id: string; approval: unknown };
  };
  const { id, approval } = await created('--timeout', '20m');
  expect(approval).toEqual({ timeoutSeconds: 1200, onTimeout: 'deny' });
  expect((await created('--approver-groups', 'finance')).approval).toEqual({
    timeoutSeconds: 900,
    onTimeout: 'deny',
    approverGroups: ['finance'],
  });
  expect((await created()).approval).toBeNull();
  const update = ['policies', 'update', id, '--json', '--on-timeout', 'allow'];
  const { stdout } = await actlog(update, { env: service.env });
  expect(JSON.parse(stdout)).toMatchObject({ approval: { timeoutSeconds: 1200, onTimeout: 'allow' } });
});

it('names the option of a field that the service misses', async () => {
  const create = ['policies', 'create', '--name', 'x', '--effect', 'deny', '--rate-max', '5'];
  const { stderr, exitCode } = await actlog(create, { env: service.env });
  expect(stderr).toMatch(/^error: .*rate\.windowSeconds \(--rate-window\).*\n$/s);
  expect(exitCode).toBe(1);
});

it.skipIf(process.platform !== 'linux').each([[['rules']], [['--help']], [['policies', '--help']]])(
  'ends with one line when the output of %j cannot be written',
  (args) => {
    const full = openSync('/dev/full', 'w');
    const { stderr, status } = spawnSync(process.execPath, ['--conditions=@actlog/source', bin, ...args], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });
    closeSync(full);
    expect(stderr).toMatch(
      /^error: Standard output could not be written: ENOSPC: no space left on device\.\n$/,
    );
    expect(status).toBe(1);
  },
);
