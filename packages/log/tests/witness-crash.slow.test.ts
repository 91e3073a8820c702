import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { requestCosignature } from '../src/add-checkpoint.ts';
import { openCheckpoint, signCheckpoint } from '../src/checkpoint.ts';
import { createKey, parseSignerKey } from '../src/signed-note.ts';
import { appendEntries, consistencyProof } from '../src/tiles.ts';
import { originHash } from '../src/witness.ts';
import { MemoryTiles } from './memory-tiles.ts';
import { TestLog } from './test-log.ts';

/** Number of times that the witness is killed; set it higher for a long run. */
const kills = Number(process.env.ACTLOG_TEST_KILLS ?? 8);

/** Size of the log. */
const size = 600;

test(`remembers every checkpoint that it cosigned when killed ${kills} times`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-crash-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const witnessKey = createKey('witness.example', 'witness');
  const { verifierKey } = parseSignerKey(witnessKey.signerKey);
  const log = new TestLog();
  await log.appendEvents(size);

  let children: ChildProcess[] = [];
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  /** Starts two processes with one folder. */
  const start = () =>
    Promise.all(
      [0, 1].map(async () => {
        const program = join(import.meta.dirname, 'witness-process.ts');
        const args = [
          '--conditions=@actlog/source',
          program,
          folder,
          witnessKey.signerKey,
          log.key.verifierKey.text,
        ];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        children.push(child);
        const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
        return url;
      }),
    );
  const submit = async (url: string, oldSize: number, newSize: number) => {
    const tiles = new MemoryTiles();
    const { root } = await appendEntries(tiles, 0, log.entries.slice(0, newSize));
    const proof = oldSize <= newSize ? await consistencyProof(tiles, oldSize, newSize) : [];
    const checkpoint = signCheckpoint(newSize, root, log.key);
    return requestCosignature(url, { oldSize, proof, checkpoint }, [verifierKey]);
  };

  let acknowledged = 0;
  for (let round = 0; round < kills; round += 1) {
    const [url = '', otherUrl = ''] = await start();
    const known = await submit(otherUrl, size, size);
    let next = 'knownSize' in known ? known.knownSize : size;
    expect(next).toBeGreaterThanOrEqual(acknowledged);
    if (acknowledged > 0) {
      const latest = await (await fetch(`${url}/${originHash(log.key.name)}/checkpoint`)).text();
      expect(openCheckpoint(latest, [log.key.verifierKey], [verifierKey])).toMatchObject({ size: next });
    }
    const killAt = Math.min(next + 3 + Math.floor(Math.random() * 20), size - 1);
    while (next < killAt) {
      const response = await submit(next % 2 === 0 ? url : otherUrl, next, next + 1);
      expect(response).toHaveProperty('cosigned');
      next += 1;
      acknowledged = next;
    }
    // It dies anywhere between the arrival of a request and its response.
    const last = submit(url, next, next + 1).then(
      () => {
        acknowledged = next + 1;
      },
      () => {},
    );
    for (let turn = Math.floor(Math.random() * 40); turn > 0; turn -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const child of children) child.kill('SIGKILL');
    await Promise.all([
      last,
      ...children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
    ]);
    children = [];
  }
  expect(acknowledged).toBeGreaterThan(kills * 3);
});
