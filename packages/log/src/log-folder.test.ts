import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testEntries } from '../tests/memory-tiles.ts';
import { signCheckpoint } from './checkpoint.ts';
import { LogFolder } from './log-folder.ts';
import { trustPolicy } from './policy.ts';
import { createKey, parseSignerKey } from './signed-note.ts';
import { appendEntries } from './tiles.ts';
import { verifyLog } from './verify-log.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('keeps a log in files that any process can verify', async () => {
  const path = await temporaryFolder();
  const key = parseSignerKey(createKey('log.example').signerKey);
  let size = 0;
  for (const count of [10, 0, 600, 1]) {
    const log = new LogFolder(path);
    const appended = await appendEntries(log, size, testEntries(count, size));
    size = appended.size;
    await log.writeCheckpoint(signCheckpoint(size, appended.root, key));
  }
  const policy = trustPolicy(key.verifierKey.text);
  expect(await verifyLog(new LogFolder(path), { policy })).toMatchObject({ size: 611, isProven: true });
  expect((await readdir(path, { recursive: true })).filter((name) => name.includes('unfinished'))).toEqual(
    [],
  );
});

test('has nothing before its first checkpoint', async () => {
  const log = new LogFolder(join(await temporaryFolder(), 'absent'));
  expect(await log.readCheckpoint()).toBeUndefined();
  expect(await log.readTile({ level: 0, index: 0, width: 1 })).toBeUndefined();
});

test('reports files that it cannot read', async () => {
  const path = await temporaryFolder();
  await symlink(path, join(path, 'checkpoint'));
  await expect(new LogFolder(path).readCheckpoint()).rejects.toMatchObject({ code: 'EISDIR' });
});
