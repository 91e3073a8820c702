import { chmodSync, existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { afterEach, expect, test, vi } from 'vitest';
import {
  listTenantFolders,
  readDeadLetters,
  readProcessJournals,
  readWaitingEvents,
  spoolPlaces,
  UntrustedFileError,
} from '../src/spool/index.ts';
import { AgentProcess } from './agent-process.ts';
import { endOwners, temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

const apiKey = 'al_test_recorder';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Starts a service that cannot be reached. */
async function unreachableSink(): Promise<Sink> {
  const sink = await Sink.start();
  await sink.down();
  return sink;
}

/** Returns the ids of the events that wait in the folder of a tenant. */
function waitingIds(folder: string): string[] {
  return readProcessJournals(folder).flatMap((journal) =>
    [...readWaitingEvents(journal)].map(({ eventId }) => eventId),
  );
}

test.each([undefined, 'acme'])('finds the folder that a recorder uses, for the tenant %s', async (tenant) => {
  const sink = await unreachableSink();
  const spoolDir = temporaryFolder();
  const client = new Actlog({ baseURL: sink.url, apiKey });
  const [place, ...others] = spoolPlaces({ client, spoolDir, tenant });
  expect(existsSync(place?.userFolder ?? '')).toBe(false);
  recordMany(createRecorder(sink.url, { spoolDir, tenant }), 1);
  expect([place?.tenantFolder, others]).toEqual([tenantFolderIn(spoolDir), []]);
  expect(listTenantFolders(place?.userFolder ?? '')).toEqual([place?.tenantFolder]);
});

test('finds the default folders, and that of the environment', () => {
  vi.stubEnv('XDG_STATE_HOME', '/state');
  vi.stubEnv('ACTLOG_SPOOL_DIR', '');
  expect(spoolPlaces()).toHaveLength(2);
  vi.stubEnv('ACTLOG_SPOOL_DIR', '/spools');
  expect(spoolPlaces().map(({ tenantFolder }) => tenantFolder)).toEqual([undefined]);
  expect(spoolPlaces()[0]?.userFolder).toMatch(/^\/spools\/actlog-/);
});

test('reads what waits in the journal of a running process, without changing it', async () => {
  const sink = await unreachableSink();
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir });
  const ids = recordMany(recorder, 120);
  const folder = tenantFolderIn(spoolDir);
  const [journal, ...others] = readProcessJournals(folder);
  expect(others).toEqual([]);
  expect(journal).toMatchObject({ owner: 'running', waiting: 120, damaged: 0, problems: [] });
  expect(journal?.process.pid).toBe(process.pid);
  expect(journal?.bytes).toBe(recorder.stats().spoolBytes);
  expect(waitingIds(folder)).toEqual(ids);
  const [event] = readWaitingEvents(journal as NonNullable<typeof journal>);
  expect(event).toEqual({
    eventId: ids[0],
    agentId: 'agent',
    sessionId: 'session 0',
    sourceTimestamp: expect.stringMatching(/^20\d\d-.+Z$/),
    category: 'tool_api',
    toolName: 'tool 0',
  });
  await sink.up();
  expect((await recorder.flush()).pending).toBe(0);
  await recorder.close();
  expect(waitingIds(folder)).toEqual([]);
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
});

test('recognizes journals of ended processes, and those that another has taken over', async () => {
  const sink = await unreachableSink();
  const spoolDir = temporaryFolder();
  const agent = new AgentProcess({ MODE: 'stay', COUNT: '5', SINK_URL: sink.url, SPOOL: spoolDir });
  await agent.until(() => agent.lines.includes('ready'));
  const folder = tenantFolderIn(spoolDir);
  expect(readProcessJournals(folder)).toMatchObject([{ owner: 'running', waiting: 5 }]);
  agent.child.kill('SIGKILL');
  await agent.end();
  expect(readProcessJournals(folder)).toMatchObject([{ owner: 'ended', waiting: 5 }]);
  const recorder = createRecorder(sink.url, { spoolDir, apiKey: 'al_test_agent' });
  const own = recordMany(recorder, 1);
  expect(readProcessJournals(folder)).toMatchObject([{ owner: 'running', waiting: 6 }]);
  expect(waitingIds(folder)).toEqual([...agent.recorded, ...own]);
  await recorder.close({ timeoutMs: 0 });
  expect(readProcessJournals(folder)).toMatchObject([{ owner: 'ended', waiting: 6 }]);
});

test('returns nothing for folders that do not exist', () => {
  const folder = join(temporaryFolder(), 'none');
  expect([listTenantFolders(folder), readProcessJournals(folder), [...readDeadLetters(folder)]]).toEqual([
    [],
    [],
    [],
  ]);
});

test('reads dead letters without anything of their arguments', async () => {
  const sink = await Sink.start(() => ({ status: 413 }));
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir });
  const ids = recordMany(recorder, 2);
  await recorder.flush();
  const letters = [...readDeadLetters(tenantFolderIn(spoolDir))];
  expect(letters.map(({ event }) => event.eventId).sort()).toEqual(ids.sort());
  expect(letters[0]).toMatchObject({
    reason: 'HTTP 413',
    event: { toolName: expect.stringMatching(/^tool \d$/) },
  });
  expect(JSON.stringify(letters)).not.toContain('sha256');
  const file = join(tenantFolderIn(spoolDir), 'dead-letters.jsonl');
  renameSync(file, join(file, '..', 'dead-letters.1.jsonl'));
  expect([...readDeadLetters(tenantFolderIn(spoolDir))]).toEqual(letters);
});

test.runIf(process.platform !== 'win32')('refuses folders that other users can change', async () => {
  const sink = await unreachableSink();
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir });
  recordMany(recorder, 1);
  await recorder.close({ timeoutMs: 0 });
  const folder = tenantFolderIn(spoolDir);
  endOwners(folder);
  chmodSync(join(folder, readdirSync(folder)[0] as string), 0o777);
  expect(readProcessJournals(folder)).toMatchObject([
    { waiting: 0, problems: [expect.stringContaining('chmod 700')] },
  ]);
  chmodSync(folder, 0o777);
  expect(() => readProcessJournals(folder)).toThrow(UntrustedFileError);
  expect(() => readProcessJournals(folder)).toThrow(expect.objectContaining({ because: 'mode' }));
});
