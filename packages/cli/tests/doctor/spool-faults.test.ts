import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Recorder, type RecorderOptions } from '@actlog/recorder';
import { expect, onTestFinished, test, vi } from 'vitest';
import { recordInEndedProcess } from '../ended-process.ts';
import { codesOf, TestSetup } from './fixture.ts';

const isRoot = process.getuid?.() === 0;
const otherUid = 12_345;

/** Opens a recorder in this process, which runs while the command does. */
function openRecorder(setup: TestSetup, options: RecorderOptions): Recorder {
  const recorder = new Recorder({
    apiKey: setup.env.ACTLOG_API_KEY,
    baseURL: setup.env.ACTLOG_BASE_URL,
    spoolDir: setup.spoolDir,
    agentId: 'agent',
    onError: () => {},
    onDrop: () => {},
    ...options,
  });
  onTestFinished(async () => {
    await recorder.close({ timeoutMs: 0 });
  });
  return recorder;
}

/** Records events that cannot be delivered, so that they wait. */
function recordUndelivered(setup: TestSetup, count: number, options: RecorderOptions = {}): void {
  const recorder = openRecorder(setup, { fetch: () => Promise.reject(new Error('offline')), ...options });
  for (let index = 0; index < count; index += 1) {
    recorder.record({ toolName: 'tool', arguments: { index }, responseStatus: 200 });
  }
}

/** Returns the folder of the only user with journals in the spool folder. */
function userFolderOf({ spoolDir }: TestSetup): string {
  return join(spoolDir, readdirSync(spoolDir)[0] ?? '');
}

test('finds a full spool', async () => {
  const setup = await TestSetup.create();
  recordUndelivered(setup, 1000, { maxSpoolBytes: 65_536 });
  const lines = await setup.diagnose(['--max-spool-bytes', '65536']);
  expect(codesOf(lines, 'failed')).toEqual(['spool-full']);
  const full = lines.find(({ code }) => code === 'spool-full');
  expect(full?.detail).toContain(`process ${process.pid} is full`);
  expect(full?.fix).toContain('raise maxSpoolBytes');
  // With the default limit, there is room.
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual([]);
});

test.runIf(process.platform !== 'win32')('finds a spool folder that this user cannot write', async () => {
  const setup = await TestSetup.create();
  mkdirSync(setup.spoolDir, { mode: 0o755 });
  // Root may write everywhere, so the command runs as another user then.
  if (isRoot) chmodSync(join(setup.spoolDir, '..'), 0o755);
  else chmodSync(setup.spoolDir, 0o555);
  if (isRoot) chmodSync(setup.dir, 0o755);
  const ended = await (isRoot ? setup.runAs(otherUid, ['--json']) : setup.run(['--json']));
  const lines = setup.linesOf(ended);
  expect(codesOf(lines, 'failed')).toEqual(['spool-not-writable']);
  const { detail, fix } = lines.find(({ code }) => code === 'spool-not-writable') ?? {};
  expect(detail).toContain(`${setup.spoolDir} cannot be written (EACCES)`);
  expect(fix).toContain('set ACTLOG_SPOOL_DIR to another folder');
});

test('finds a file where the spool folder should be', async () => {
  const setup = await TestSetup.create();
  writeFileSync(setup.spoolDir, '');
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual(['spool-not-a-folder']);
});

test.runIf(process.platform !== 'win32').each([
  ['of the user', (setup: TestSetup) => userFolderOf(setup)],
  [
    'of the tenant',
    (setup: TestSetup) => join(userFolderOf(setup), readdirSync(userFolderOf(setup))[0] ?? ''),
  ],
])('finds a folder %s that others can write', async (_which, folderOf) => {
  const setup = await TestSetup.create();
  recordUndelivered(setup, 1);
  const folder = folderOf(setup);
  chmodSync(folder, 0o777);
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(['spool-mode']);
  const { detail, fix } = lines.find(({ code }) => code === 'spool-mode') ?? {};
  expect(detail).toContain(`${folder} (mode 0777)`);
  expect(fix).toContain(`chmod 700 ${folder}`);
});

test.runIf(isRoot)('finds a spool folder of another user', async () => {
  const setup = await TestSetup.create();
  recordUndelivered(setup, 1);
  chownSync(userFolderOf(setup), otherUid, otherUid);
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(['spool-owner']);
  expect(lines.find(({ code }) => code === 'spool-owner')?.detail).toContain(`uid ${otherUid}`);
});

test.runIf(process.platform !== 'win32')('finds files that the recorder does not deliver', async () => {
  const setup = await TestSetup.create();
  recordInEndedProcess({
    baseURL: setup.server.url,
    apiKey: setup.env.ACTLOG_API_KEY ?? '',
    spoolDir: setup.spoolDir,
    count: 2,
  });
  const [tenant = ''] = readdirSync(userFolderOf(setup));
  const [journal = ''] = readdirSync(join(userFolderOf(setup), tenant));
  chmodSync(join(userFolderOf(setup), tenant, journal), 0o770);
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual(['spool-files-skipped']);
});

test('reports events of ended processes, of this key and of others', async () => {
  const setup = await TestSetup.create();
  const { spoolDir, server } = setup;
  const apiKey = setup.env.ACTLOG_API_KEY ?? '';
  recordInEndedProcess({ baseURL: server.url, apiKey, spoolDir, count: 3 });
  recordInEndedProcess({ baseURL: server.url, apiKey: server.apiKey, spoolDir, count: 2 });
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([]);
  expect(codesOf(lines, 'warning')).toEqual(['waiting-of-ended', 'waiting-elsewhere']);
  const [ended, elsewhere] = lines.filter(({ status }) => status === 'warning');
  expect(ended?.detail).toMatch(/^3 events of processes that have ended wait since 20\d\d-/);
  expect(ended?.fix).toContain('actlog spool flush');
  expect(elsewhere?.detail).toContain('2 events wait for another address, key or tenant');
  expect(JSON.stringify(lines)).not.toContain('never shown');
});

test('reports events that the service rejected', async () => {
  const setup = await TestSetup.create();
  const rejection = { error: { code: 'VALIDATION_ERROR', message: 'payload is invalid.', details: [] } };
  const fetch = async () => Response.json(rejection, { status: 400 });
  const recorder = openRecorder(setup, { fetch });
  recorder.record({ toolName: 'tool', arguments: {}, responseStatus: 200 });
  await recorder.flush();
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([]);
  expect(codesOf(lines, 'warning')).toEqual(['dead-letters']);
  const { detail, fix } = lines.find(({ code }) => code === 'dead-letters') ?? {};
  expect(detail).toContain('rejected 1 event');
  expect(detail).toContain('HTTP 400: VALIDATION_ERROR: payload is invalid');
  expect(fix).toContain('actlog spool inspect --dead-letters');
});

test('names the processes whose events wait', async () => {
  const setup = await TestSetup.create();
  recordUndelivered(setup, 4);
  const lines = await setup.diagnose();
  expect(lines.find(({ check }) => check === 'waiting')?.detail).toBe(`4 events, of process ${process.pid}`);
});

test('reports events of a running process that wait for long', async () => {
  const setup = await TestSetup.create();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 });
  onTestFinished(() => void vi.useRealTimers());
  recordUndelivered(setup, 2);
  vi.useRealTimers();
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([]);
  expect(codesOf(lines, 'warning')).toEqual(['waiting-too-long']);
  expect(lines.find(({ code }) => code === 'waiting-too-long')?.detail).toContain(`(${process.pid})`);
});

test.runIf(canMount())('finds a disk without free space', async () => {
  const setup = await TestSetup.create();
  const lines = setup.linesOf(await setup.runOnSmallDisk(join(setup.spoolDir, '..'), ['--json']));
  expect(codesOf(lines, 'failed')).toEqual(['disk-full']);
  expect(lines.find(({ code }) => code === 'disk-full')?.detail).toContain('1.0 MiB of free space');
});

/** `true` if a process of this user may mount a file system of its own. */
function canMount(): boolean {
  return spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;
}
