import { existsSync } from 'node:fs';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { type RunningServer, startServer } from '@actlog/server';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { actlog, type Ended } from '../command-line.ts';
import { recordInEndedProcess } from '../ended-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let server: RunningServer;
let spoolDir: string;
let env: Record<string, string>;

beforeEach(async () => {
  server = await startServer();
  onTestFinished(() => server.close());
  spoolDir = `${temporaryFolder()}/spool`;
  env = {
    HOME: temporaryFolder(),
    ACTLOG_BASE_URL: server.url,
    ACTLOG_API_KEY: server.agentKey ?? '',
    ACTLOG_SPOOL_DIR: spoolDir,
  };
});

function spool(...args: string[]): Promise<Ended> {
  return actlog(['spool', ...args], { cwd: temporaryFolder(), env });
}

async function spoolJson<Result>(...args: string[]): Promise<Result & { exitCode: number | null }> {
  const { stdout, exitCode } = await spool(...args, '--json');
  return { ...(JSON.parse(stdout) as Result), exitCode };
}

/** Leaves events of an ended process, recorded with the key of the environment. */
function leave(count: number, apiKey = env.ACTLOG_API_KEY ?? ''): string[] {
  return recordInEndedProcess({ baseURL: server.url, apiKey, spoolDir, count });
}

/** Opens a recorder in this process that cannot deliver its events. */
function recordWhileOffline(count: number): Recorder {
  const fetch = () => Promise.reject(new Error('offline'));
  const apiKey = env.ACTLOG_API_KEY;
  const recorder = new Recorder({ apiKey, baseURL: server.url, spoolDir, fetch, agentId: 'a', onError() {} });
  onTestFinished(async () => {
    await recorder.close({ timeoutMs: 0 });
  });
  for (let index = 0; index < count; index += 1) {
    recorder.record({ toolName: `running ${index}`, arguments: {}, responseStatus: 200 });
  }
  return recorder;
}

async function storedIds(): Promise<string[]> {
  const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  const { events } = await client.sessions.get('s');
  return (events ?? []).map(({ eventId }) => String(eventId));
}

test('shows what waits, by process', async () => {
  recordWhileOffline(2);
  leave(3);
  const { stdout, exitCode } = await spool('status');
  expect(exitCode).toBe(0);
  expect(stdout).toContain(spoolDir);
  expect(stdout).toMatch(/ended +3 +20\d\d-/);
  expect(stdout).toMatch(new RegExp(`${process.pid} +running +2 `));
  const status = await spoolJson<{ folders: { isCurrent: boolean; waiting: number }[] }>('status');
  expect(status.folders).toMatchObject([{ isCurrent: true, waiting: 5 }]);
});

test('shows what waits without a key, and for which keys', async () => {
  leave(1);
  leave(2, server.apiKey);
  const both = await spoolJson<{ folders: { isCurrent: boolean; waiting: number }[] }>('status');
  const isCurrent = both.folders.map((folder) => [folder.isCurrent, folder.waiting]);
  expect(isCurrent).toEqual(
    expect.arrayContaining([
      [true, 1],
      [false, 2],
    ]),
  );
  delete env.ACTLOG_API_KEY;
  const { folders } = await spoolJson<typeof both>('status');
  expect(folders.map((folder) => folder.isCurrent)).toEqual([false, false]);
});

test('lists waiting events without anything of their arguments', async () => {
  const ids = leave(3);
  const { stdout } = await spool('inspect', '--jsonl');
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ eventId }) => eventId)).toEqual(ids);
  expect(events[0]).toEqual({
    eventId: ids[0],
    agentId: 'agent',
    sessionId: 's',
    sourceTimestamp: expect.stringMatching(/^20\d\d-.*Z$/),
    category: 'tool_api',
    toolName: 'tool 0',
    pid: expect.any(Number),
    owner: 'ended',
    folder: expect.stringContaining(spoolDir),
  });
  expect((await spool('inspect', '--limit', '1')).stdout).toContain('tool 0');
});

test('delivers the events of ended processes, each once, and leaves those of running ones', async () => {
  recordWhileOffline(2);
  const ids = leave(50);
  const result = await spoolJson('flush');
  expect(result).toEqual({
    delivered: 50,
    deadLettered: 0,
    waiting: 0,
    waitingOfRunning: 2,
    errors: [],
    exitCode: 0,
  });
  expect((await storedIds()).sort()).toEqual(ids.sort());
  const again = await spool('flush');
  expect(again).toMatchObject({ exitCode: 0, stderr: '' });
  expect(again.stdout).toContain('Nothing waits.');
});

test('delivers each event once when several flush at the same time', async () => {
  const ids = [...leave(20), ...leave(20)];
  const results = await Promise.all([
    spoolJson<{ delivered: number }>('flush'),
    spoolJson<{ delivered: number }>('flush'),
  ]);
  expect(results.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(40);
  expect((await storedIds()).sort()).toEqual(ids.sort());
});

test('exits with 1, says why and keeps the events if they cannot be delivered', async () => {
  leave(2);
  const { url } = server;
  await server.close();
  const { exitCode, stderr, stdout } = await spool('flush', '--timeout', '5s');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Delivered 0 events.');
  expect(stderr).toContain('2 events could not be delivered.');
  expect(stderr).toContain(`The service at ${url} cannot be reached: ECONNREFUSED.`);
  const { folders } = await spoolJson<{ folders: { waiting: number }[] }>('status');
  expect(folders).toMatchObject([{ waiting: 2 }]);
});

test('keeps the events if the key is rejected, and says so at once', async () => {
  leave(2);
  await server.admin.keys.revoke('default', env.ACTLOG_API_KEY?.slice(8, 18) ?? '');
  const { exitCode, stderr } = await spool('flush');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('AUTHENTICATION_FAILED');
  expect(stderr).not.toContain(env.ACTLOG_API_KEY?.slice(18));
});

test('lists the events that the service rejects, with the reason', async () => {
  const [first] = leave(2);
  const { exitCode } = await spool('flush', '--base-url', server.url);
  expect(exitCode).toBe(0);
  const fetch = async () =>
    Response.json(
      { error: { code: 'VALIDATION_ERROR', message: 'category is reserved', details: [] } },
      { status: 400 },
    );
  const apiKey = env.ACTLOG_API_KEY;
  const recorder = new Recorder({ apiKey, baseURL: server.url, spoolDir, fetch, agentId: 'a', onError() {} });
  const id = recorder.record({ toolName: 'tool', arguments: { secret: 'never shown' }, responseStatus: 200 });
  await recorder.close();
  const { stdout } = await spool('inspect', '--dead-letters', '--json');
  expect(JSON.parse(stdout)).toMatchObject([
    { eventId: id, toolName: 'tool', reason: 'HTTP 400: VALIDATION_ERROR: category is reserved' },
  ]);
  expect(stdout).not.toContain('argumentsHash');
  expect(stdout).not.toContain(first);
  expect((await spool('status')).stderr).toContain('1 dead letter in ');
});

test('creates no folder', async () => {
  expect(await spool('status')).toMatchObject({ exitCode: 0 });
  expect(await spool('flush')).toMatchObject({ exitCode: 0 });
  expect(await spool('inspect')).toMatchObject({ exitCode: 0 });
  expect(existsSync(spoolDir)).toBe(false);
});

test('exits with 4 without a key', async () => {
  delete env.ACTLOG_API_KEY;
  const { exitCode, stderr } = await spool('flush');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('ACTLOG_API_KEY');
});

test('delivers what a process without a home left in the folder for temporary files', async () => {
  const temporary = temporaryFolder();
  delete env.ACTLOG_SPOOL_DIR;
  const ids = recordInEndedProcess({
    baseURL: server.url,
    apiKey: env.ACTLOG_API_KEY ?? '',
    count: 2,
    env: { HOME: '/dev/null', TMPDIR: temporary },
  });
  env.TMPDIR = temporary;
  expect((await spool('status')).stdout).toContain(temporary);
  const { delivered, exitCode } = await spoolJson<{ delivered: number }>('flush');
  expect([delivered, exitCode]).toEqual([2, 0]);
  expect(await storedIds()).toEqual(ids);
});
