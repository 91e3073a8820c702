import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultSpoolFolder } from '../src/journal/spool-location.ts';
import { AgentProcess } from './agent-process.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

afterEach(() => vi.unstubAllEnvs());

test('keeps the spool folder when the working directory changes', async () => {
  const sink = await Sink.start();
  await sink.down();
  const startedIn = process.cwd();
  try {
    process.chdir(temporaryFolder());
    const recorder = createRecorder(sink.url, { spoolDir: 'spool', maxQueuedEvents: 5 });
    recordMany(recorder, 20);
    process.chdir(temporaryFolder());
    recordMany(recorder, 20);
    expect(recorder.stats()).toMatchObject({ pending: 40, spooled: 40 });
    await sink.up();
    expect(await recorder.close()).toMatchObject({ delivered: 40, pending: 0 });
  } finally {
    process.chdir(startedIn);
  }
});

/** Returns the parent folder of journals for an environment. */
function parentFor(environment: Record<string, string | undefined>): string {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return dirname(defaultSpoolFolder('deployment and key'));
}

test.runIf(process.platform === 'linux')('stores journals in the home or with temporary files', () => {
  const [home, state, temporary] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const all = { HOME: home, XDG_STATE_HOME: state, TMPDIR: temporary };
  const inHome = join(home, '.local', 'state', 'actlog', 'spool');
  expect(parentFor(all)).toBe(join(state, 'actlog', 'spool'));
  expect(parentFor({ ...all, XDG_STATE_HOME: undefined })).toBe(inHome);
  expect(parentFor({ ...all, XDG_STATE_HOME: 'relative' })).toBe(inHome);
  const withTemporary = join(temporary, `actlog-${process.getuid?.()}`);
  expect(parentFor({ ...all, XDG_STATE_HOME: undefined, HOME: '' })).toBe(withTemporary);
  expect(parentFor({ ...all, XDG_STATE_HOME: undefined, HOME: '/dev/null' })).toBe(withTemporary);
});

// In a separate process, which the test can kill if it hangs.
test.runIf(process.platform === 'linux')('reports that no folder can be created, and continues', async () => {
  const sink = await Sink.start();
  const env = { MODE: 'drain', COUNT: '3', SINK_URL: sink.url, SPOOL: '/proc/nobody/spool' };
  const agent = new AgentProcess(env);
  expect(await agent.end()).toBe(0);
  expect(agent.stderr).toContain('The journal failed (ENOENT)');
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});
