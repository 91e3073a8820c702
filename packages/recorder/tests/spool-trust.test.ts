import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RecorderOptions } from '../src/index.ts';
import { endOwners, temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

const isRoot = process.getuid?.() === 0;
const otherUid = 12_345;

/** Creates a used spool folder: one process ended and left `count` events. */
async function usedSpool(count: number): Promise<{ sink: Sink; spoolDir: string; folder: string }> {
  const sink = await Sink.start();
  await sink.down();
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir });
  recordMany(recorder, count);
  await recorder.close({ timeoutMs: 0 });
  await sink.up();
  const folder = tenantFolderIn(spoolDir);
  endOwners(folder);
  return { sink, spoolDir, folder };
}

/** Delivers the events of a spool folder and returns the reported errors. */
async function deliver(sink: Sink, spoolDir: string, options: RecorderOptions = {}) {
  const errors: string[] = [];
  const onError = ({ message }: Error) => errors.push(message);
  const result = await createRecorder(sink.url, { spoolDir, onError, ...options }).close();
  return { ...result, errors };
}

function onlySegmentIn(folder: string): string {
  const [name = ''] = (readdirSync(folder, { recursive: true }) as string[]).filter((each) =>
    each.endsWith('.seg'),
  );
  return join(folder, name);
}

describe.runIf(process.platform !== 'win32')('a spool folder accessible to other users', () => {
  test('does not send a segment planted in a public spoolDir', async () => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    const shared = temporaryFolder();
    chmodSync(shared, 0o777);
    cpSync(folder, shared, { recursive: true });
    const { delivered } = await deliver(sink, shared);
    expect([delivered, sink.storedIds]).toEqual([0, []]);
    expect((await deliver(sink, spoolDir)).delivered).toBe(3);
  });

  test('stores journals in folders of their user only, for any spoolDir', async () => {
    const spoolDir = temporaryFolder();
    chmodSync(spoolDir, 0o2775);
    const sink = await Sink.start();
    await sink.down();
    recordMany(createRecorder(sink.url, { spoolDir }), 1);
    for (const name of readdirSync(spoolDir, { recursive: true }) as string[]) {
      expect(statSync(join(spoolDir, name)).mode & 0o077).toBe(0);
    }
  });

  test('rejects a folder writable by others, with a fix', async () => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    chmodSync(folder, 0o777);
    const refused = await deliver(sink, spoolDir);
    expect(refused.delivered).toBe(0);
    expect(refused.errors).toEqual([expect.stringContaining(`run "chmod 700 ${folder}"`)]);
    chmodSync(folder, 0o700);
    expect((await deliver(sink, spoolDir)).delivered).toBe(3);
  });

  test('reports a process folder writable by others, and leaves it in place', async () => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    chmodSync(join(folder, readdirSync(folder)[0] as string), 0o770);
    const { delivered, errors } = await deliver(sink, spoolDir);
    expect(delivered).toBe(0);
    expect(errors).toEqual([expect.stringContaining('chmod 700')]);
  });

  test('rejects a link instead of the folder, and records in memory', async () => {
    const { sink, folder } = await usedSpool(3);
    const spoolDir = temporaryFolder();
    const first = createRecorder(sink.url, { spoolDir });
    const name = readdirSync(spoolDir)[0] as string;
    await first.close();
    const planted = temporaryFolder();
    symlinkSync(join(folder, '..'), join(planted, name));
    const errors: string[] = [];
    const recorder = createRecorder(sink.url, {
      spoolDir: planted,
      onError: ({ message }) => errors.push(message),
    });
    const ids = recordMany(recorder, 2);
    expect(await recorder.close()).toMatchObject({ delivered: 2 });
    expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
    expect(errors).toEqual([expect.stringContaining('is not a folder. Remove it')]);
  });

  test('reports events in a folder that is moved away while it is in use, and delivers them once it is back', async () => {
    const sink = await Sink.start();
    await sink.down();
    const spoolDir = temporaryFolder();
    const errors: string[] = [];
    const recorder = createRecorder(sink.url, {
      spoolDir,
      maxQueuedEvents: 5,
      onError: ({ message }) => errors.push(message),
    });
    const ids = recordMany(recorder, 20);
    const [userFolder = ''] = readdirSync(spoolDir);
    const away = join(temporaryFolder(), 'away');
    renameSync(join(spoolDir, userFolder), away);
    await recorder.close({ timeoutMs: 0 });
    const [moved] = errors.filter((message) => message.includes('was moved or removed by another program'));
    const count = Number(/(\d+) events in it are not delivered/.exec(moved ?? '')?.[1]);
    expect(count).toBeGreaterThan(0);
    await sink.up();
    const next = createRecorder(sink.url, { spoolDir });
    await next.close();
    expect(new Set(sink.storedIds).size).toBe(ids.length - count);
    rmSync(join(spoolDir, userFolder), { recursive: true, force: true });
    renameSync(away, join(spoolDir, userFolder));
    endOwners(tenantFolderIn(spoolDir));
    const last = createRecorder(sink.url, { spoolDir });
    await last.flush();
    await last.close();
    expect(new Set(sink.storedIds)).toEqual(new Set(ids));
  });

  test.runIf(isRoot)('rejects a folder of another user', async () => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    chownSync(folder, otherUid, otherUid);
    const { delivered, errors } = await deliver(sink, spoolDir);
    expect(delivered).toBe(0);
    expect(errors).toEqual([expect.stringContaining(`belongs to another user (uid ${otherUid}`)]);
  });

  test.runIf(isRoot)('reports a segment of another user once, without delaying others', async () => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    const segment = onlySegmentIn(folder);
    chownSync(segment, otherUid, otherUid);
    const { delivered, errors } = await deliver(sink, spoolDir);
    expect(delivered).toBe(0);
    expect(errors).toEqual([expect.stringContaining(`belongs to another user (uid ${otherUid}`)]);
  });

  test.each<[string, (path: string) => void, string]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['a link', (path) => symlinkSync('/etc/passwd', path), 'is not a regular file'],
    ['a second name of a file', linkedFile, 'has 2 hard links'],
    ['a file of 3 GB', sparseFile, 'more than any segment'],
  ])('skips and reports %s among the segments', async (_what, plant, message) => {
    const { sink, spoolDir, folder } = await usedSpool(3);
    plant(join(onlySegmentIn(folder), '..', '00000000.seg'));
    const { delivered, errors } = await deliver(sink, spoolDir);
    expect(delivered).toBe(3);
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  test.each<[string, (path: string, target: string) => void]>([
    ['a link', (path, target) => symlinkSync(target, path)],
    ['a second name of a file', (path, target) => linkSync(target, path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ])('does not write to %s instead of the dead-letter file', async (_what, plant) => {
    const sink = await Sink.start(() => ({ status: 413 }));
    const spoolDir = temporaryFolder();
    const dropped: string[] = [];
    const onDrop = ({ reason }: { reason: string }) => dropped.push(reason);
    const recorder = createRecorder(sink.url, { spoolDir, onDrop });
    const target = join(temporaryFolder(), 'target');
    writeFileSync(target, 'as it was');
    plant(join(tenantFolderIn(spoolDir), 'dead-letters.jsonl'), target);
    recordMany(recorder, 1);
    expect(await recorder.flush()).toMatchObject({ deadLettered: 0, dropped: 1 });
    expect([dropped, readFileSync(target, 'utf8')]).toEqual([['refused'], 'as it was']);
  });
});

test('skips an endless line with bounded memory', async () => {
  const { sink, spoolDir, folder } = await usedSpool(3);
  const segment = onlySegmentIn(folder);
  const whole = readFileSync(segment);
  writeFileSync(segment, Buffer.concat([Buffer.alloc(8 * 1024 * 1024, 'x'), Buffer.from('\n'), whole]));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { spoolDir, onError: ({ message }) => errors.push(message) });
  expect(await recorder.close()).toMatchObject({ delivered: 3 });
  expect(recorder.stats().unreadable).toBe(1);
});

test('does not send events of another tenant in a shared spoolDir', async () => {
  const { sink, spoolDir } = await usedSpool(3);
  expect((await deliver(sink, spoolDir, { apiKey: 'al_test_other_tenant' })).delivered).toBe(0);
  const elsewhere = await Sink.start();
  expect((await deliver(elsewhere, spoolDir)).delivered).toBe(0);
  expect((await deliver(sink, spoolDir)).delivered).toBe(3);
});

test('keeps the journals of a named tenant when its key changes', async () => {
  const sink = await Sink.start();
  await sink.down();
  const spoolDir = temporaryFolder();
  const tenant = 'acme';
  const recorder = createRecorder(sink.url, { spoolDir, tenant, apiKey: 'al_test_former' });
  recordMany(recorder, 3);
  await recorder.close({ timeoutMs: 0 });
  await sink.up();
  expect((await deliver(sink, spoolDir, { tenant: 'other', apiKey: 'al_test_next' })).delivered).toBe(0);
  expect((await deliver(sink, spoolDir, { tenant, apiKey: 'al_test_next' })).delivered).toBe(3);
});

function linkedFile(path: string): void {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  linkSync(file, path);
}

function sparseFile(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 3 * 1024 ** 3);
}
