import { once } from 'node:events';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const program = join(import.meta.dirname, 'programs', 'thread.ts');

test('delivers the events of a terminated worker thread once it has been silent', async () => {
  const sink = await Sink.start();
  await sink.down();
  const spool = temporaryFolder();
  const worker = new Worker(program, {
    workerData: { url: sink.url, spool, count: 20 },
    execArgv: ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'],
  });
  const [ids] = (await once(worker, 'message')) as [string[]];
  const folders = tenantFolderIn(spool);
  const [folder = ''] = readdirSync(folders);
  const early = createRecorder(sink.url, { spoolDir: spool });
  expect(early.stats().pending).toBe(0);
  await worker.terminate();
  const longAgo = new Date(Date.now() - 120_000);
  for (const name of readdirSync(folders)) utimesSync(join(folders, name), longAgo, longAgo);
  await sink.up();
  const { delivered } = await createRecorder(sink.url, { spoolDir: spool }).close();
  expect(delivered).toBe(20);
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
  // A recorder of this thread keeps its folder, marked or not.
  const left = readdirSync(folders);
  expect([left.length, left.includes(folder)]).toEqual([1, false]);
});
