import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { officialServer, RawGateway, textOf } from './raw-gateway.ts';
import { TestService } from './service.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-command-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = process.env.PATH ?? '';
const configured = { PATH: path, ACTLOG_BASE_URL: 'http://127.0.0.1:9', ACTLOG_API_KEY: 'al_test_key' };

async function run(args: readonly string[], env: Record<string, string> = configured) {
  const command = RawGateway.run(env, args);
  const { code } = await command.end();
  return { code, stdout: command.output.toString(), stderr: command.stderr };
}

test.each([
  [[], 'The server is missing: pass its command after --, or its address with --url.'],
  [['--url', 'https://a.example', '--', 'node'], 'exclude each other: pass one server.'],
  [['--url', 'ftp://a.example'], '--url must be an address that starts with http:// or https://.'],
  [['--url', 'https://a.example', '--header', 's3cret'], '--header must be a name and a value'],
  [['--listen', '70000', '--', 'node'], 'It must be a port from 0 to 65535'],
  [['--hold-seconds', 'long', '--', 'node'], 'It must be a number of seconds'],
  [['--guard', 'on', '--', 'node'], 'Allowed choices are off, observe, enforce.'],
  [['--wrap', 'cursor', '--unwrap', 'cursor'], '--wrap and --unwrap exclude each other'],
  [['--print', '--', 'node'], '--print belongs to --wrap or --unwrap.'],
])('rejects %j', async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('s3cret');
  expect(stdout).toBe('');
});

test('requires a choice for an unreachable service, and starts no server without it', async () => {
  const { code, stderr } = await run([
    '--guard',
    'enforce',
    '--',
    process.execPath,
    '-e',
    'console.log("started")',
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('guard.onUnavailable is missing');
});

test('wraps one server of a file, with its options and the variables of the shell, and prints without the key', async () => {
  const file = join(folder, 'mcp.json');
  const text = '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}';
  writeFileSync(file, text);
  const options = ['--server', 'b', '--agent', 'desk', '--hold-seconds', '30', '--announce'];
  const printed = await run(['--wrap', file, ...options, '--print']);
  expect(printed.stdout).not.toContain('al_test_key');
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(await run(['--wrap', file, ...options])).toMatchObject({ code: 0, stdout: '' });
  const { a, b } = JSON.parse(readFileSync(file, 'utf8')).mcpServers;
  expect(a).toEqual({ command: 'a' });
  const gateway = ['-y', 'actlog', 'gateway', '--agent', 'desk', '--hold-seconds', '30', '--announce'];
  expect(b).toEqual({
    command: 'npx',
    args: [...gateway, '--', 'b'],
    env: { ACTLOG_BASE_URL: configured.ACTLOG_BASE_URL, ACTLOG_API_KEY: configured.ACTLOG_API_KEY },
  });
  expect((await run(['--unwrap', file])).stderr).toContain('b: unwrapped');
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('names what is missing to wrap a configuration', async () => {
  const file = join(folder, 'mcp.json');
  writeFileSync(file, '{"servers": {"a": {"command": "a"}}}');
  const unset = await run(['--wrap', file], { PATH: path });
  expect(unset).toMatchObject({ code: 1 });
  expect(unset.stderr).toContain('ACTLOG_BASE_URL and ACTLOG_API_KEY must be set');
  expect((await run(['--wrap', file, '--server', 'z'])).stderr).toContain('has no server "z": it has a.');
  expect((await run(['--wrap', join(folder, 'none.json')])).stderr).toContain('none.json does not exist');
});

test('runs without a service, and says once that nothing is recorded', async () => {
  const server = officialServer('memory');
  const env = { PATH: path, MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  const gateway = RawGateway.start(env, server);
  await gateway.initialize('memory');
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
  gateway.call(1, 'create_entities', { entities });
  expect(textOf(await gateway.message(({ id }) => id === 1))).toContain('Ada');
  await gateway.end();
  expect(gateway.stderr.match(/Nothing is recorded: set ACTLOG_API_KEY and ACTLOG_BASE_URL/g)).toHaveLength(
    1,
  );
});

test('records the calls of the official memory server', async () => {
  const service = await TestService.start();
  const env = service.environment({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  const gateway = RawGateway.start(env, officialServer('memory'));
  await gateway.initialize('remembers');
  gateway.call(1, 'read_graph');
  gateway.call(2, 'no_such_tool');
  gateway.call(3, 'create_entities', { entities: 'wrong' });
  for (const wanted of [1, 2, 3]) await gateway.message(({ id }) => id === wanted);
  await gateway.end();
  const calls = await service.calls('remembers', 3);
  expect(calls.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    'create_entities 400',
    'no_such_tool 404',
    'read_graph 200',
  ]);
  await service.close();
});
