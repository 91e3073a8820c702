import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InnerProcess } from '../../../scripts/inner-process.ts';
import { contractCommand, exitCodes } from '../src/command.ts';
import { runCommand } from '../src/run-command.ts';
import { Deployment } from './deployment.ts';
import type { MutantKeys } from './mutants/mutant.ts';

const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'actlog-contract-'));

let deployment: Deployment;
let keys: MutantKeys;

beforeAll(async () => {
  deployment = await Deployment.start();
  keys = await deployment.newKeys();
});

afterAll(async () => {
  await deployment.close();
  rmSync(folder, { recursive: true });
});

function written(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Runs the command as its program does, in this process. */
function command(...flags: string[]) {
  return commandWith({}, ...flags);
}

/** Runs the command with other variables. */
async function commandWith(variables: Readonly<Record<string, string>>, ...flags: string[]) {
  const env = { ACTLOG_BASE_URL: deployment.proxy.url, ACTLOG_API_KEY: keys.own, ...variables };
  const { exit, stdout, stderr } = new InnerProcess(runCommand, { args: flags, env });
  const { code } = await exit;
  return { stdout: stdout.text, stderr: stderr.text, exitCode: code };
}

/** Runs the command in a process of its own. */
async function commandInProcess(...flags: string[]) {
  const nodeFlags = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...nodeFlags, bin, ...flags], { env: { PATH: process.env.PATH } });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, exitCode };
}

it('exits with 0 for a conforming deployment and writes the requested reports', async () => {
  deployment.proxy.fault = {};
  const [junit, json] = [join(folder, 'report.xml'), join(folder, 'report.json')];
  const { stdout, stderr, exitCode } = await command(
    '--only',
    'ACK',
    'AUT-04',
    '--junit',
    junit,
    '--json',
    json,
  );
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toContain('✓ ACK-02 MUST');
  expect(stdout).toContain('– AUT-04 MUST');
  expect(stdout).toContain('skipped: no retired key was given (ACTLOG_RETIRED_KEY)');
  expect(stdout).toContain('The deployment conforms to the contract');
  expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ ok: true, baseURL: deployment.proxy.url });
  expect(readFileSync(junit, 'utf8')).toMatch(/<testcase classname="ACK-02" name="[^"]+\[receivedAt\]"\/>/);
  for (const written of [stdout, readFileSync(json, 'utf8'), readFileSync(junit, 'utf8')]) {
    expect(written).not.toContain(keys.own);
  }
});

it('exits with 1 for a violated MUST and reports it', async () => {
  deployment.proxy.fault = {
    response: (it) => {
      if (it.status === 202) it.body = it.body.replace('"receivedAt"', '"<received & at>"');
    },
  };
  const junit = join(folder, 'broken.xml');
  const { stdout, exitCode } = await command('--only', 'ACK', '--junit', junit);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('✗ ACK-02 MUST');
  expect(stdout).toContain('✗ receivedAt: receivedAt is undefined, not ISO 8601');
  expect(readFileSync(junit, 'utf8')).toContain('failures="1"');
});

/** Runs the command in this process. */
function commandHere(...flags: string[]) {
  return commandHereWith({}, ...flags);
}

async function commandHereWith(variables: Readonly<Record<string, string>>, ...flags: string[]) {
  let stderr = '';
  let exitCode: number | undefined;
  const surroundings = {
    write: () => {},
    writeError: (line: string) => {
      stderr += line;
    },
    environment: { ACTLOG_BASE_URL: deployment.proxy.url, ACTLOG_API_KEY: keys.own, ...variables },
  };
  const program = contractCommand('conformance', surroundings, (settled) => {
    exitCode = settled;
  });
  await program.parseAsync(flags, { from: 'user' });
  return { stderr, exitCode };
}

it.each([
  [['--only', 'NOPE'], /"NOPE" matches no requirement/],
  [['--base-url', ''], /^No value is set: set --base-url or ACTLOG_BASE_URL\.$/m],
  [['--base-url', 'ftp://example.com'], /^--base-url \(ACTLOG_BASE_URL\) must be an http or https URL/],
  [['--base-url', 'http://example.com'], /unencrypted to example\.com/],
  [['--base-url', 'https://example.com/v1'], /must not end in \/v1/],
  [['--bodies', join(folder, 'absent.json')], /cannot be read as JSON/],
  [['--bodies', written('list.json', '[]')], /^--bodies must be an object/],
  [['--bodies', written('null.json', 'null')], /^--bodies must be an object/],
])('exits with 2 for %j', async (flags, message) => {
  const { stderr, exitCode } = await commandHere(...flags);
  expect(stderr).toMatch(message);
  expect(exitCode).toBe(exitCodes.USAGE);
});

it.each([
  ['', /^No value is set: set ACTLOG_API_KEY\.$/m],
  ['a b', /^ACTLOG_API_KEY must not be empty or contain white space/],
])('exits with 2 for the key %j', async (key, message) => {
  const { stderr, exitCode } = await commandHereWith({ ACTLOG_API_KEY: key });
  expect(stderr).toMatch(message);
  expect(exitCode).toBe(exitCodes.USAGE);
});

it('exits with 2 for an unknown or invalid flag', async () => {
  const { stderr, exitCode } = await commandInProcess('--unheard-of');
  expect(stderr).toContain('unknown option');
  expect(exitCode).toBe(2);
  await expect(commandHere('--burst', 'many')).rejects.toThrow(/must be a whole number/);
  await expect(commandHere('--capability', 'everything')).rejects.toThrow(/reference-profile/);
});

it('exits with 3 without a response, and with 4 if the key is rejected', async () => {
  deployment.proxy.fault = {};
  const gone = await Deployment.start();
  const { url } = gone.server;
  await gone.close();
  expect(await command('--base-url', url)).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('did not respond'),
  });
  expect(await commandWith({ ACTLOG_API_KEY: keys.retired })).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('rejected the API key'),
  });
});

it('lists requirements without a deployment', async () => {
  const { stdout, exitCode } = await commandInProcess('--list');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('| EVT-04 | MUST |');
});
