import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  await service.record('order-1', ['get_order', 'refund']);
  await service.record('order-2', ['get_order']);
  await service.record('mail-1', ['send_email'], 'mailer');
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) => actlog(args, { env: service.env });

it('lists sessions as a table with all values in a pipe', async () => {
  const { stdout, stderr, exitCode } = await run('sessions', 'list');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  const [header, ...rows] = stdout.trimEnd().split('\n');
  expect(header).toMatch(/^STARTED +SESSION +AGENT +EVENTS +ERRORS +RISK +TOOLS$/);
  expect(rows).toHaveLength(3);
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}order-1 +billing +2 +0 +.*get_order, refund$/m);
});

it('lists sessions as one JSON document and as JSON Lines, with times in ISO 8601', async () => {
  const one = JSON.parse((await run('sessions', 'list', '--json')).stdout);
  const lines = (await run('sessions', 'list', '--jsonl')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(one);
  expect(one[0]).toMatchObject({ id: 'mail-1', startedAt: expect.stringMatching(/T.*Z$/) });
});

it('limits and filters a list', async () => {
  const ids = async (...flags: string[]) =>
    JSON.parse((await run('sessions', 'list', '--json', ...flags)).stdout).map(
      ({ id }: { id: string }) => id,
    );
  expect(await ids('--limit', '1')).toEqual(['mail-1']);
  expect(await ids('--agent', 'billing')).toEqual(['order-2', 'order-1']);
  expect(await ids('--since', '1h', '--limit', 'all')).toHaveLength(3);
  expect(await ids('--until', '1h')).toEqual([]);
  expect(await ids('--min-risk', '100')).toEqual([]);
});

it('says on standard error that a list is empty', async () => {
  const { stdout, stderr, exitCode } = await run('sessions', 'list', '--until', '1h');
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: '',
    stderr: 'There are no sessions.\n',
    exitCode: 0,
  });
});

it('shows a session with its events', async () => {
  const { stdout } = await run('sessions', 'show', 'order-1');
  expect(stdout).toMatch(/^session +order-1$/m);
  expect(stdout).toMatch(/billing +tool_api +refund +200 +sha256:00$/m);
  const { events } = JSON.parse((await run('sessions', 'show', 'order-1', '--json')).stdout);
  expect(events).toHaveLength(2);
  const lines = (await run('sessions', 'show', 'order-1', '--jsonl')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(events);
});

it('shows the risk of a session by dimension', async () => {
  const { stdout } = await run('sessions', 'risk', 'order-1');
  expect(stdout).toMatch(/^ASI10 +Rogue Agents +\d+ +\w+ +(yes|no)$/m);
  expect(JSON.parse((await run('sessions', 'risk', 'order-1', '--json')).stdout)).toMatchObject({
    sessionId: 'order-1',
  });
});

it('exports sessions to a file, and refuses to overwrite it', async () => {
  const file = join(folder, 'sessions.jsonl');
  const { stdout, stderr, exitCode } = await run('sessions', 'export', file, '--agent', 'billing', '--json');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(JSON.parse(stdout)).toMatchObject({ sessions: 2, resumed: 0, missing: 0 });
  const documents = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(documents.map((line) => JSON.parse(line).session.id).sort()).toEqual(['order-1', 'order-2']);
  expect(await run('sessions', 'export', file)).toMatchObject({ exitCode: 2, stdout: '' });
});

it('exports one session as a verified document', async () => {
  const file = join(folder, 'order.json');
  const { stdout } = await run('sessions', 'export', file, '--session', 'order-1');
  expect(stdout).toMatch(/^events +2$/m);
  expect(stdout).toMatch(/^verified +yes$/m);
  expect(JSON.parse(readFileSync(file, 'utf8')).eventCount).toBe(2);
});
