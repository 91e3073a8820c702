import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test as onSqlite, onTestFinished } from 'vitest';
import { configuration } from '../src/configuration.ts';
import { version } from '../src/lib/version.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { type CommandOptions, commandEnvironment, commandLine, run, runHere, start } from './command-line.ts';
import { onPostgres } from './test-database.ts';
import { activityEvent } from './test-server.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-command-'));
  writeFileSync(join(folder, 'actlog.db'), '');
});

afterAll(() => rmSync(folder, { recursive: true }));

function command(...args: string[]) {
  return runHere(args, { cwd: folder });
}

/** Starts the server, stops it, and returns what it printed. */
async function outputOf(args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const server = start(['--port', '0', ...args], options);
  await server.stderr.until((text) => text.includes('export ACTLOG_BASE_URL='));
  server.kill();
  await server.exit;
  return server.stderr.text;
}

// The database is a flag of the command, so one run is enough.
const test = onSqlite.skipIf(onPostgres);

test('explains that Node is too old', async () => {
  const old = run(process.execPath, ['--no-experimental-sqlite', ...commandLine], { cwd: folder });
  await expect(old).rejects.toMatchObject({
    code: 1,
    stderr: `actlog-server needs Node.js 22.19 or newer, and this is ${process.version}.\n`,
  });
});

test('refuses to start on Bun, where webhooks could connect to any address', async () => {
  const asBun = 'Object.defineProperty(process,"versions",{value:{...process.versions,bun:"1.0.0"}})';
  const start = [...commandLine, '--port', '0', '--database', ':memory:'];
  const refused = run(process.execPath, [`--import=data:text/javascript,${asBun}`, ...start], {
    cwd: folder,
  });
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/not run on Bun/) });
});

test('prints an address and a working key, and stops cleanly on SIGTERM', async () => {
  const child = spawn(
    process.execPath,
    [...commandLine, '--port', '0', '--database', join(folder, 'run.db')],
    {
      env: commandEnvironment(),
    },
  );
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  let logged = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    logged += chunk;
  });
  while (!output.includes('ACTLOG_API_KEY=')) await once(child.stderr, 'data');
  const url = /ACTLOG_BASE_URL=(\S+)/.exec(output)?.[1] as string;
  const apiKey = /ACTLOG_API_KEY=(\S+)/.exec(output)?.[1] as string;
  const response = await fetch(`${url}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(activityEvent({ category: 'note', payload: { text: 'nothing for a log' } })),
  });
  expect(response.status).toBe(202);
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
    socket.write('nothing, either\r\n\r\n'),
  );
  const [received] = await once(socket, 'data');
  const [, malformedId] = /x-request-id: (\S+)/.exec(String(received)) ?? [];
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  const line = (part: string) => JSON.parse(logged.split('\n').find((each) => each.includes(part)) ?? '{}');
  expect(line('"route":"/v1/events"')).toMatchObject({ method: 'POST', status: 202, msg: 'request' });
  expect(line(`"requestId":"${malformedId}"`)).toMatchObject({ status: 400, msg: 'malformed request' });
  expect(logged).not.toContain(apiKey);
  expect(logged).not.toMatch(/nothing/);
});

test('names the variable of every setting in the help', async () => {
  const { stdout } = await command('serve', '--help');
  const variables = Object.keys(configuration.shape).map((name) =>
    name === 'apiKey'
      ? 'ACTLOG_ADMIN_KEY'
      : `ACTLOG_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  );
  expect(variables.filter((variable) => !stdout.includes(variable))).toEqual([]);
});

test('prints its version', async () => {
  expect((await command('--version')).stdout.trim()).toBe(version);
});

test.each([
  [[], { key: true, docs: true }],
  [['--docs', 'false'], { key: true, docs: false }],
  [['--accept-test-keys', 'false'], { key: false, docs: true }],
  [['--host', '0.0.0.0'], { key: true, docs: true }],
])('with %j prints only what a client of this machine can use', async (args, shown) => {
  const output = await outputOf(['--database', ':memory:', ...args]);
  expect(output).toMatch(/^ {2}export ACTLOG_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
  expect({ key: output.includes('al_test_'), docs: output.includes('/docs') }).toEqual(shown);
  // The link signs in if the key may be shown.
  expect(/\/console\/#key=al_test_\w+$/m.test(output)).toBe(shown.key);
});

test('prints a key for agents that records and reads, and cannot approve, manage or open the console', async () => {
  const server = start(['--port', '0', '--database', ':memory:', '--log-level', 'silent']);
  onTestFinished(() => server.kill());
  await server.stderr.until((text) => text.includes('export ACTLOG_API_KEY='));
  const find = (pattern: RegExp) => pattern.exec(server.stderr.text)?.[1] as string;
  const url = find(/ACTLOG_BASE_URL=(\S+)/);
  const statusFor = async (key: string, method: string, path: string) => {
    const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } });
    return response.status;
  };
  const agentKey = find(/export ACTLOG_API_KEY=(\S+)/);
  const consoleKey = find(/#key=(\S+)/);
  const decide = '/v1/guardian/pending-actions/unknown/decide';
  expect(await statusFor(agentKey, 'GET', '/v1/sessions')).toBe(200);
  expect(await statusFor(agentKey, 'POST', '/v1/events')).toBe(400);
  expect(await statusFor(agentKey, 'POST', decide)).toBe(403);
  expect(await statusFor(agentKey, 'POST', '/v1/policies')).toBe(403);
  expect(await statusFor(agentKey, 'GET', '/console/api/keys')).toBe(403);
  expect(await statusFor(consoleKey, 'GET', '/console/api/keys')).toBe(200);
});

test.each([
  [
    ['--database', "people's.db"],
    String.raw`create one: npx actlog keys create NAME --scopes ingest --agents 'NAME*' --database 'people'\''s.db'`,
  ],
  [
    ['--tenant', 'acme'],
    "create one: npx actlog keys create NAME --scopes ingest --agents 'NAME*' --tenant acme",
  ],
  [[], "create one: npx actlog keys create NAME --scopes ingest --agents 'NAME*'"],
  [['--database', ':memory:'], 'set ACTLOG_ADMIN_KEY, because commands cannot reach a database in memory'],
])('without test keys and with %j, explains how to create a key', async (args, way) => {
  const cwd = mkdtempSync(join(folder, 'keyless-'));
  const output = await outputOf(['--accept-test-keys', 'false', ...args], { cwd });
  expect(output.split('\n')).toContain(`  API key   none, because test keys are not accepted; ${way}`);
});

test('names a database that a command creates', async () => {
  const { stdout, stderr } = await command('keys', 'create', 'agent', '--database', 'new.db');
  expect(stdout).toMatch(/^al_live_\w+\n$/);
  expect(stderr).toBe(`Creating a new database: ${join(folder, 'new.db')}\n`);
});

test.each([
  ['', []],
  ['agent', ['--expires-in-days', '0']],
  ['agent', ['--tenant', 'two\nlines']],
  ['agent', ['--agents', 'billing,']],
])('creates no database for the invalid key %j with %j', async (name, flags) => {
  await expect(command('keys', 'create', name, '--database', 'none.db', ...flags)).rejects.toMatchObject({
    stderr: expect.not.stringContaining('Creating a new database'),
  });
  expect(existsSync(join(folder, 'none.db'))).toBe(false);
});

test('shows no warning about experimental SQLite on any Node', async () => {
  const args = commandLine.filter((flag) => !flag.startsWith('--disable-warning'));
  const database = join(folder, 'quiet.db');
  const { stderr } = await run(process.execPath, [
    ...args,
    'keys',
    'create',
    'agent',
    '--database',
    database,
  ]);
  expect(stderr).not.toContain('SQLite');
});

test('embeds a server in a program from standard input', async () => {
  const program = `
    import { startServer } from '@actlog/server';
    const { url, close } = await startServer({ port: 0, database: ${JSON.stringify(join(folder, 'eval.db'))} });
    console.log((await fetch(url + '/readyz')).status);
    await close();`;
  const args = [...commandLine.slice(0, 2), '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout).toBe('200\n');
});

test('creates, lists, rotates and revokes keys', { timeout: 120_000 }, async () => {
  const apiKey = (
    await command('keys', 'create', 'agent', '--scopes', 'ingest', '--agents', 'billing*,support', '--shared')
  ).stdout.trim();
  expect(apiKey).toMatch(/^al_live_[0-9A-Za-z]{48}$/);
  const id = apiKey.slice(8, 18);
  expect((await command('keys', 'list')).stdout).toMatch(
    new RegExp(`^${id}\tlive\tagent\tingest\tagents billing\\*,support shared\t`),
  );
  const next = (
    await command('keys', 'rotate', id, '--overlap-days', '0', '--expires-in-days', '30')
  ).stdout.trim();
  expect(next).not.toBe(apiKey);
  await command('keys', 'revoke', next.slice(8, 18));
  await expect(command('keys', 'revoke', 'nobody')).rejects.toMatchObject({ code: 1 });
  await command('retention', '30');
  const days = {
    code: 1,
    stderr: expect.stringContaining('Days must be a whole number from 1 to 36500, not 0.'),
  };
  await expect(command('retention', '0')).rejects.toMatchObject(days);
  await command('backup', 'copy.db');
  expect((await command('keys', 'list', '--database', 'copy.db')).stdout.trim().split('\n')).toHaveLength(2);
});

test('sets tags of tools and quotas', { timeout: 120_000 }, async () => {
  await command('keys', 'create', 'agent');
  await command('tags', 'set', 'zorp', 'payment,external_comm');
  await command('tags', 'set', 'hum', 'none');
  await command('tags', 'set', 'zap', 'exec');
  await command('tags', 'set', 'zap', 'default');
  expect((await command('tags', 'list')).stdout).toBe('hum\tnone\nzorp\texternal_comm,payment\n');
  await command('quota', 'set', 'eventsPerMonth', '1000');
  await command('quota', 'set', 'policies', '5');
  await command('quota', 'set', 'policies', 'unlimited');
  await command('quota', 'set', 'sessions', '7');
  await command('quota', 'set', 'sessions', 'default');
  const shown = (await command('quota', 'list', '--quotas', '{"agents":5}')).stdout.split('\n');
  expect(shown).toEqual(
    expect.arrayContaining([
      'eventsPerMonth\tused 0\tof 1000\tevents a month',
      'sessions\tused 0\tof 10000000\tstored sessions',
      'agents\tused 0\tof 5\tagents, registered or seen',
      'policies\tused 0\tof unlimited\tactive policies',
    ]),
  );
});

test('treats an empty variable as missing, for commands as for the server', async () => {
  const own = mkdtempSync(join(folder, 'empty-'));
  const env = { ACTLOG_DATABASE: '', ACTLOG_TENANT: '' };
  const { stdout, stderr } = await runHere(['keys', 'create', 'a'], { cwd: own, env });
  expect(stderr).toBe(`Creating a new database: ${join(own, 'actlog.db')}\n`);
  const listed = await runHere(['keys', 'list', '--tenant', 'default'], { cwd: own, env });
  expect(listed.stdout).toContain(stdout.slice(8, 18));
});

test('creates no database for a command in the wrong folder, and no backup of nothing', {
  timeout: 120_000,
}, async () => {
  const missing = join(folder, 'missing.db');
  for (const args of [
    ['backup', join(folder, 'nothing.db')],
    ['keys', 'list'],
    ['retention', '30'],
  ]) {
    await expect(command(...args, '--database', missing)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no database ${missing}`),
    });
  }
  expect(existsSync(missing) || existsSync(join(folder, 'nothing.db'))).toBe(false);
});

test('tolerates a reader that closes the pipe', async () => {
  await command('keys', 'create', 'agent', '--database', 'piped.db');
  const child = spawn(
    process.execPath,
    [...commandLine, 'keys', 'list', '--database', join(folder, 'piped.db')],
    {
      env: commandEnvironment(),
    },
  );
  child.stdout.destroy();
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  expect([code, output]).toEqual([0, '']);
});

test('names a settings file that is not JSON, without quoting it', async () => {
  writeFileSync(join(folder, 'broken.json'), 'hunter2');
  const error = await command('--config', 'broken.json').catch((caught: { stderr: string }) => caught);
  expect(error.stderr).toContain('broken.json is not valid JSON');
  expect(error.stderr).not.toContain('hunter');
});

test('reads a key from the file that a variable names, and ignores the port that Kubernetes sets', async () => {
  const apiKey = newApiKey('live');
  writeFileSync(join(folder, 'api-key'), `${apiKey}\n`);
  writeFileSync(join(folder, 'port.json'), '{"port": 0}');
  const server = start(['--database', ':memory:', '--config', join(folder, 'port.json')], {
    env: { ACTLOG_ADMIN_KEY_FILE: join(folder, 'api-key'), ACTLOG_PORT: 'tcp://10.0.0.1:8787' },
  });
  await server.stderr.until((text) => /export ACTLOG_BASE_URL=\S+\n/.test(text));
  const output = server.stderr.text;
  const [, url] = /export ACTLOG_BASE_URL=(\S+)\n/.exec(output) ?? [];
  const { status } = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${apiKey}` } });
  server.kill();
  await server.exit;
  expect(output).toContain('API key   as configured');
  expect(status).toBe(200);
});

test.each([
  [{ ACTLOG_SECRET_FILE: 'none' }, 'The file "none" that ACTLOG_SECRET_FILE names cannot be read: ENOENT'],
  [{ ACTLOG_SECRET_FILE: 'empty' }, 'The file "empty" that ACTLOG_SECRET_FILE names is empty.'],
  [
    { ACTLOG_SECRET_FILE: 'empty', ACTLOG_SECRET: 'hunter2' },
    'ACTLOG_SECRET and ACTLOG_SECRET_FILE are both set: set only one of them.',
  ],
  [{ ACTLOG_SECRET_FILE: 'short' }, 'secret: must have at least 32 characters'],
])('with %j refuses to start, and shows no secret', async (variables, hint) => {
  writeFileSync(join(folder, 'empty'), '\n');
  writeFileSync(join(folder, 'short'), 'hunter2');
  const args = ['--port', '0', '--database', ':memory:'];
  const refused = await runHere(args, { cwd: folder, env: variables }).catch(
    (caught: { code: number; stderr: string }) => caught,
  );
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) });
  expect(refused.stderr).not.toContain('hunter');
});

test('warns about a configured key that has ended', { timeout: 60_000 }, async () => {
  const database = join(folder, 'ended.db');
  const apiKey = (await command('keys', 'create', 'old', '--database', database)).stdout.trim();
  await command('keys', 'revoke', apiKey.slice(8, 18), '--database', database);
  const server = start(['--port', '0', '--database', database], { env: { ACTLOG_ADMIN_KEY: apiKey } });
  await expect.poll(() => server.stdout.logged).toContain('Server listening');
  server.kill();
  await server.exit;
  const { logged } = server.stdout;
  expect(logged).toContain(`"keyId":"${apiKey.slice(8, 18)}","msg":"the configured API key has ended`);
  expect(logged).not.toContain(apiKey);
});

test.each([
  [['--port', 'abc'], 'port'],
  [['--max-queued-events', '0'], 'maxQueuedEvents'],
  [['--max-queued-bytes', '0'], 'maxQueuedBytes'],
  [['--webhook-allowed-ranges', '["10.0.0.0"]'], 'webhookAllowedRanges'],
  [
    ['--webhook-allowed-ranges', '10.0.0.0/8'],
    'webhookAllowedRanges: must be an array of ranges, such as ["',
  ],
  [['--accept-test-keys', 'no'], 'acceptTestKeys: must be true or false'],
  [['--config', 'wrong.json'], 'databse'],
  [['keys', 'list', '--database', 'wrong.json'], 'wrong.json cannot be opened: file is not a database'],
  [['keys', 'list', '--database', '.'], '. cannot be opened: unable to open'],
  [['keys', 'create', 'x', '--scopes', 'all'], 'no scope "all"'],
  [['keys', 'create', 'x', '--tenant', 'x'.repeat(201)], 'must have 1 to 200 characters, not 201'],
  [['keys', 'create', 'line\nbreak'], 'The name of a key must have 1 to 200 characters'],
  [['retention', '1e300'], 'from 1 to 36500, not 1e+300'],
  [['keys', 'create', 'x', '--database', ':memory:'], 'Commands cannot reach a database in memory'],
  [['tags', 'set', 'zorp', 'pay'], 'cannot have the tag "pay"'],
  [['learn', 'nobody'], 'has no session "nobody".'],
  [['quota', 'set', 'events', '5'], 'There is no quota "events"'],
  [['quota', 'set', 'sessions', 'lots'], 'It must be a number, or "unlimited".'],
  [['retention', 'always'], 'It must be a number, or "forever".'],
  [['keys', 'list', '--database', 'other.db'], 'There is no database '],
  [['--database', 'mysql://db/actlog'], 'an address that begins with postgres://'],
  [['--database', 'file:other.db'], 'database: must be the path of an SQLite file'],
  [['keys', 'create', 'x', '--database', 'file:other.db'], 'It must be the path of an SQLite file'],
  [['--database', 'none/actlog.db'], 'none/actlog.db.secret cannot be written (ENOENT)'],
  [['--database', 'wrong.json'], 'wrong.json cannot be opened: file is not a database'],
  [['--config', 'actlog.db'], 'actlog.db is not valid JSON'],
  [['--config', 'missing.json'], 'The file "missing.json" that --config names cannot be read: ENOENT'],
  [['--config', 'windows.json'], 'port: Invalid input: expected number, received string'],
  [['--rate-limit', '5'], 'rateLimit: must be false, or an object such as'],
  [['keys', 'create', 'x', '--expires-in-days', '-5'], 'more than 0 and at most 36500 days, not -5'],
  [['keys', 'create', 'x', '--expires-in-days', '1e300'], 'more than 0 and at most 36500 days'],
])('%j is refused with an error that names the problem', async (args, hint) => {
  writeFileSync(join(folder, 'wrong.json'), '{"databse": "x.db"}');
  writeFileSync(join(folder, 'windows.json'), '\u{feff}{\r\n"port": "80"\r\n}\r\n');
  await expect(command(...args)).rejects.toMatchObject({ stderr: expect.stringContaining(hint) });
});
