import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test as onSqlite } from 'vitest';
import { configuration } from '../src/configuration.ts';
import { newApiKey } from '../src/keys/api-key.ts';
import { version } from '../src/version.ts';
import { commandLine, run } from './command-line.ts';
import { onPostgres } from './test-database.ts';
import { activityEvent } from './test-server.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-command-'));
  writeFileSync(join(folder, 'actlog.db'), '');
});

afterAll(() => rmSync(folder, { recursive: true }));

function command(...args: string[]) {
  // Twenty processes load the same sources.
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(folder, 'compiled') };
  return run(process.execPath, [...commandLine, ...args], { cwd: folder, env });
}

// The command is told its database by a flag: once is enough.
const test = onSqlite.skipIf(onPostgres);

test('a Node that is too old is told of in a sentence', async () => {
  const old = run(process.execPath, ['--no-experimental-sqlite', ...commandLine], { cwd: folder });
  await expect(old).rejects.toMatchObject({
    code: 1,
    stderr: `actlog-server needs Node.js 22.19 or newer, and this is ${process.version}.\n`,
  });
});

test('Bun, where webhooks would connect to any address, is refused', async () => {
  const asBun = 'Object.defineProperty(process,"versions",{value:{...process.versions,bun:"1.0.0"}})';
  const start = [...commandLine, '--port', '0', '--database', ':memory:'];
  const refused = run(process.execPath, [`--import=data:text/javascript,${asBun}`, ...start], {
    cwd: folder,
  });
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/not run on Bun/) });
});

test('the command prints an address and a key that work, and stops cleanly on SIGTERM', async () => {
  const child = spawn(
    process.execPath,
    [...commandLine, '--port', '0', '--database', join(folder, 'run.db')],
    {
      env: { PATH: process.env.PATH ?? '' },
    },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    said += chunk;
  });
  let logged = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    logged += chunk;
  });
  while (!said.includes('ACTLOG_API_KEY=')) await once(child.stderr, 'data');
  const url = /ACTLOG_BASE_URL=(\S+)/.exec(said)?.[1] as string;
  const apiKey = /ACTLOG_API_KEY=(\S+)/.exec(said)?.[1] as string;
  const response = await fetch(`${url}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(activityEvent({ category: 'note', payload: { text: 'nothing for a log' } })),
  });
  expect(response.status).toBe(202);
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
    socket.write('nothing, either\r\n\r\n'),
  );
  const [answer] = await once(socket, 'data');
  const [, malformedId] = /x-request-id: (\S+)/.exec(String(answer)) ?? [];
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  const line = (part: string) => JSON.parse(logged.split('\n').find((each) => each.includes(part)) ?? '{}');
  expect(line('"route":"/v1/events"')).toMatchObject({ method: 'POST', status: 202, msg: 'request' });
  expect(line(`"requestId":"${malformedId}"`)).toMatchObject({ status: 400, msg: 'malformed request' });
  expect(logged).not.toContain(apiKey);
  expect(logged).not.toMatch(/nothing/);
});

test('the help names the variable of every setting', async () => {
  const { stdout } = await command('start', '--help');
  const variables = Object.keys(configuration.shape).map(
    (name) => `ACTLOG_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  );
  expect(variables.filter((variable) => !stdout.includes(variable))).toEqual([]);
});

test('the command tells its version', async () => {
  expect((await command('--version')).stdout.trim()).toBe(version);
});

test.each([
  [[], { key: true, docs: true }],
  [['--docs', 'false'], { key: true, docs: false }],
  [['--accept-test-keys', 'false'], { key: false, docs: true }],
  [['--host', '0.0.0.0'], { key: true, docs: true }],
])('with %j it prints what a client of this machine can use, and nothing else', async (args, shown) => {
  const child = spawn(process.execPath, [...commandLine, '--port', '0', '--database', ':memory:', ...args], {
    env: { PATH: process.env.PATH ?? '' },
  });
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes('export ACTLOG_BASE_URL=')) child.kill('SIGTERM');
  }
  expect(said).toMatch(/^ {2}export ACTLOG_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
  expect({ key: said.includes('al_test_'), docs: said.includes('/docs') }).toEqual(shown);
  // The link signs in where the key may be shown.
  expect(/\/console\/#key=al_test_\w+$/m.test(said)).toBe(shown.key);
});

test.each([
  [
    ['--database', "people's.db"],
    String.raw`make one: npx @actlog/server keys create NAME --database 'people'\''s.db'`,
  ],
  [['--tenant', 'acme'], 'make one: npx @actlog/server keys create NAME --tenant acme'],
  [[], 'make one: npx @actlog/server keys create NAME'],
  [['--database', ':memory:'], 'set ACTLOG_API_KEY, as no command reaches a database in memory'],
])('without test keys, and with %j, it tells how this server comes by a key', async (args, way) => {
  const start = [...commandLine, '--port', '0', '--accept-test-keys', 'false', ...args];
  const cwd = mkdtempSync(join(folder, 'keyless-'));
  const child = spawn(process.execPath, start, { cwd, env: { PATH: process.env.PATH ?? '' } });
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes('export ACTLOG_BASE_URL=')) child.kill('SIGTERM');
  }
  expect(said.split('\n')).toContain(`  API key   none, as test keys are not taken; ${way}`);
});

test('a database that a command makes is named', async () => {
  const { stdout, stderr } = await command('keys', 'create', 'agent', '--database', 'new.db');
  expect(stdout).toMatch(/^al_live_\w+\n$/);
  expect(stderr).toBe(`A new database is made: ${join(folder, 'new.db')}\n`);
});

test.each([
  ['', []],
  ['agent', ['--expires-in-days', '0']],
  ['agent', ['--tenant', 'two\nlines']],
])('no database is made for the key %j with %j, which cannot be', async (name, flags) => {
  await expect(command('keys', 'create', name, '--database', 'none.db', ...flags)).rejects.toMatchObject({
    stderr: expect.not.stringContaining('A new database is made'),
  });
  expect(existsSync(join(folder, 'none.db'))).toBe(false);
});

test('on no Node an operator is warned that SQLite is experimental', async () => {
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

test('a program that is no file can embed a server on one', async () => {
  const program = `
    import { startServer } from '@actlog/server';
    const { url, close } = await startServer({ port: 0, database: ${JSON.stringify(join(folder, 'eval.db'))} });
    console.log((await fetch(url + '/readyz')).status);
    await close();`;
  const args = [...commandLine.slice(0, 2), '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout).toBe('200\n');
});

test('keys are made, listed, rotated and revoked', { timeout: 120_000 }, async () => {
  const apiKey = (await command('keys', 'create', 'agent', '--scopes', 'ingest')).stdout.trim();
  expect(apiKey).toMatch(/^al_live_[0-9A-Za-z]{48}$/);
  const id = apiKey.slice(8, 18);
  expect((await command('keys', 'list')).stdout).toMatch(new RegExp(`^${id}\tlive\tagent\tingest\t`));
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

test('tags of tools are corrected and quotas are set', { timeout: 120_000 }, async () => {
  await command('keys', 'create', 'agent');
  await command('tags', 'set', 'zorp', 'payment,external_comm');
  await command('tags', 'set', 'hum', 'none');
  await command('tags', 'set', 'zap', 'exec');
  await command('tags', 'set', 'zap', 'default');
  expect((await command('tags', 'list')).stdout).toBe('hum\tnone\nzorp\texternal_comm,payment\n');
  await command('quota', 'set', 'eventsPerMonth', '1000');
  await command('quota', 'set', 'policies', '5');
  await command('quota', 'set', 'policies', 'unlimited');
  expect((await command('quota', 'list')).stdout.split('\n').slice(0, 3)).toEqual([
    'eventsPerMonth\tused 0\tof 1000',
    'sessions\tused 0\tof unlimited',
    'policies\tused 0\tof unlimited',
  ]);
});

test('a variable that is empty counts as not given, for the commands as for the server', async () => {
  const own = mkdtempSync(join(folder, 'empty-'));
  const env = { PATH: process.env.PATH ?? '', ACTLOG_DATABASE: '', ACTLOG_TENANT: '' };
  const { stdout, stderr } = await run(process.execPath, [...commandLine, 'keys', 'create', 'a'], {
    cwd: own,
    env,
  });
  expect(stderr).toBe(`A new database is made: ${join(own, 'actlog.db')}\n`);
  const listed = await run(process.execPath, [...commandLine, 'keys', 'list', '--tenant', 'default'], {
    cwd: own,
    env,
  });
  expect(listed.stdout).toContain(stdout.slice(8, 18));
});

test('a command for another folder makes no database there, and no backup of nothing', {
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

test('a reader that has gone is no failure', async () => {
  await command('keys', 'create', 'agent', '--database', 'piped.db');
  const child = spawn(
    process.execPath,
    [...commandLine, 'keys', 'list', '--database', join(folder, 'piped.db')],
    {
      env: { PATH: process.env.PATH ?? '' },
    },
  );
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([0, '']);
});

test('a file of settings that is no JSON is named, and nothing of it is shown', async () => {
  writeFileSync(join(folder, 'broken.json'), 'hunter2');
  const error = await command('--config', 'broken.json').catch((caught: { stderr: string }) => caught);
  expect(error.stderr).toContain('broken.json holds no JSON');
  expect(error.stderr).not.toContain('hunter');
});

test('a key is read from the file that a variable names, and what Kubernetes calls a port is none', async () => {
  const apiKey = newApiKey('live');
  writeFileSync(join(folder, 'api-key'), `${apiKey}\n`);
  writeFileSync(join(folder, 'port.json'), '{"port": 0}');
  const args = ['--database', ':memory:', '--config', join(folder, 'port.json')];
  const child = spawn(process.execPath, [...commandLine, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      ACTLOG_API_KEY_FILE: join(folder, 'api-key'),
      ACTLOG_PORT: 'tcp://10.0.0.1:8787',
    },
  });
  let said = '';
  let status: number | undefined;
  child.stderr.setEncoding('utf8');
  for await (const chunk of child.stderr) {
    said += chunk;
    const url = /export ACTLOG_BASE_URL=(\S+)\n/.exec(said)?.[1];
    if (url === undefined || status !== undefined) continue;
    status = (await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
    child.kill('SIGTERM');
  }
  expect(said).toContain('API key   as configured');
  expect(status).toBe(200);
});

test.each([
  [{ ACTLOG_SECRET_FILE: 'none' }, 'The file "none" that ACTLOG_SECRET_FILE names cannot be read: ENOENT'],
  [{ ACTLOG_SECRET_FILE: 'empty' }, 'The file "empty" that ACTLOG_SECRET_FILE names is empty.'],
  [
    { ACTLOG_SECRET_FILE: 'empty', ACTLOG_SECRET: 'hunter2' },
    'ACTLOG_SECRET and ACTLOG_SECRET_FILE are both set: keep one of them.',
  ],
  [{ ACTLOG_SECRET_FILE: 'short' }, 'secret: must have at least 32 characters'],
])('with %j the start is refused, and no secret is shown', async (variables, hint) => {
  writeFileSync(join(folder, 'empty'), '\n');
  writeFileSync(join(folder, 'short'), 'hunter2');
  const env = { PATH: process.env.PATH ?? '', ...variables };
  const start = [...commandLine, '--port', '0', '--database', ':memory:'];
  const refused = await run(process.execPath, start, { cwd: folder, env }).catch(
    (caught: { code: number; stderr: string }) => caught,
  );
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(hint) });
  expect(refused.stderr).not.toContain('hunter');
});

test('a configured key that has ended is told of', { timeout: 60_000 }, async () => {
  const database = join(folder, 'ended.db');
  const apiKey = (await command('keys', 'create', 'old', '--database', database)).stdout.trim();
  await command('keys', 'revoke', apiKey.slice(8, 18), '--database', database);
  const child = spawn(process.execPath, [...commandLine, '--port', '0', '--database', database], {
    env: { PATH: process.env.PATH ?? '', ACTLOG_API_KEY: apiKey },
  });
  let logged = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    logged += chunk;
  });
  while (!logged.includes('Server listening')) await once(child.stdout, 'data');
  child.kill('SIGTERM');
  await once(child, 'close');
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
  [['keys', 'create', 'x', '--database', ':memory:'], 'No command reaches what a server keeps in memory'],
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
  [['--config', 'actlog.db'], 'actlog.db holds no JSON'],
  [['--config', 'missing.json'], 'The file "missing.json" that --config names cannot be read: ENOENT'],
  [['--config', 'windows.json'], 'port: Invalid input: expected number, received string'],
  [['--rate-limit', '5'], 'rateLimit: must be false, or an object such as'],
  [['keys', 'create', 'x', '--expires-in-days', '-5'], 'more than 0 and at most 36500 days, not -5'],
  [['keys', 'create', 'x', '--expires-in-days', '1e300'], 'more than 0 and at most 36500 days'],
])('%j is refused with the name of what is wrong', async (args, hint) => {
  writeFileSync(join(folder, 'wrong.json'), '{"databse": "x.db"}');
  writeFileSync(join(folder, 'windows.json'), '\u{feff}{\r\n"port": "80"\r\n}\r\n');
  await expect(command(...args)).rejects.toMatchObject({ stderr: expect.stringContaining(hint) });
});
