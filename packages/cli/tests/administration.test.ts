import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allRules } from '@actlog/risk';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { actlog, start } from './command-line.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

it('serves a database, creates keys in it, and deletes a session from it', async () => {
  const served = start(['serve', '--port', '0', '--database', 'actlog.db', '--log-level', 'silent'], {
    cwd: folder,
  });
  onTestFinished(() => served.kill());
  await served.stderr.until((printed) => printed.includes('export ACTLOG_API_KEY='));
  const baseUrl = /ACTLOG_BASE_URL=(\S+)/.exec(served.stderr.text)?.[1] as string;

  const created = await actlog(['keys', 'create', 'reader', '--scopes', 'read,ingest'], { cwd: folder });
  expect(created).toMatchObject({ stderr: '', exitCode: 0 });
  const env = { ACTLOG_BASE_URL: baseUrl, ACTLOG_API_KEY: created.stdout.trim() };
  const send = ['events', 'send', '--agent', 'a', '--session', 'order-1', '--tool', 'refund'];
  expect(await actlog(send, { env })).toMatchObject({ exitCode: 0 });
  expect((await actlog(['sessions', 'list', '--json'], { env })).stdout).toContain('"order-1"');

  const unconfirmed = await actlog(['sessions', 'delete', 'order-1'], { cwd: folder });
  expect(unconfirmed.exitCode).toBe(2);
  expect(unconfirmed.stderr).toMatch(/^error: Add --yes to delete the session "order-1" permanently/);
  expect(await actlog(['sessions', 'delete', 'order-1', '--yes'], { cwd: folder })).toMatchObject({
    stderr: '',
    exitCode: 0,
  });
  expect((await actlog(['sessions', 'list', '--json'], { env })).stdout).toBe('[]\n');

  served.kill('SIGTERM');
  expect(await served.exit).toEqual({ code: 0, signal: null });
});

it('exits with 1 for a missing database, and with 2 for an invalid option', async () => {
  const missing = await actlog(['keys', 'list', '--database', 'absent.db'], { cwd: folder });
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toMatch(
    /^error: There is no database .*absent\.db: set --database or ACTLOG_DATABASE/,
  );
  const invalid = await actlog(['keys', 'create', 'x', '--scopes', 'all'], { cwd: folder });
  expect(invalid.exitCode).toBe(2);
  expect(invalid.stderr).toContain('There is no scope "all"');
});

it('checks a deployment against the specification, with the exit codes of the suite', async () => {
  const listed = await actlog(['conformance', '--list']);
  expect(listed.exitCode).toBe(0);
  expect(listed.stdout).toContain('| EVT-04 | MUST |');
  expect(await actlog(['conformance', '--only', 'NOPE', '--base-url', 'http://127.0.0.1:1'])).toMatchObject({
    exitCode: 2,
  });
});

it('lists and explains the rules of the risk score', async () => {
  const { stdout } = await actlog(['rules']);
  for (const { id } of allRules) expect(stdout).toContain(id);
  expect((await actlog(['rules', '--jsonl'])).stdout.trimEnd().split('\n')).toHaveLength(allRules.length);
  const explained = await actlog(['rules', 'explain', 'goal.detour']);
  expect(explained.stdout).toContain('False positives');
  expect(explained.stdout).toContain('Does not match in');
  const unknown = await actlog(['rules', 'explain', 'nonsense']);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toContain('Allowed choices are');
});

it('shows the classification of a tool name', async () => {
  const { stdout } = await actlog(['tool', 'mcp__mail__sendEmail']);
  expect(stdout).toMatch(/^verb +send$/m);
  expect(stdout).toMatch(/^tags +external_comm$/m);
});
