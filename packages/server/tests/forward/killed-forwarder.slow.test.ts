import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { ChildServer } from '../child-server.ts';
import { logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { TestServer } from '../test-server.ts';
import { BulkApi, startReceiver } from './receivers.ts';

/** Number of times that the server is killed; set it higher for a long run. */
const kills = Number(process.env.ACTLOG_TEST_KILLS ?? 3);
const eventsBetweenKills = 60;
const apiKey = newApiKey('test');

test(`loses no record when killed ${kills} times between send and position, and repeats only the last batch`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-forward-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'api-key');
  writeFileSync(file, 'c2VjcmV0');
  const api = new BulkApi();
  /** Called before the documents of a request are stored. Returns `false` to store none. */
  let beforeStored = async () => true;
  const { url } = await startReceiver(async (request) =>
    (await beforeStored()) ? api.handle(request) : undefined,
  );
  const options = {
    database: join(folder, 'forward.db'),
    secret: 'the one secret of all servers in these tests',
    apiKey,
    docs: false,
    forward: [{ kind: 'elastic' as const, url, index: 'agents', apiKey: { file }, batchRecords: 10 }],
  };
  for (let killed = 0; killed < kills; killed += 1) {
    const child = await ChildServer.start(options);
    const server = new TestServer({ url: child.url } as TestServer['server'], apiKey);
    // The process ends while it waits for the response: after the documents are stored, or before.
    const wasKilled = new Promise<void>((resolve) => {
      let batches = 0;
      const killLater = async () => {
        batches += 1;
        if (batches < 2) return true;
        await child.kill();
        resolve();
        return false;
      };
      api.afterStored = () => undefined;
      beforeStored = async () => true;
      if (killed % 2 === 0) api.afterStored = () => killLater().then(() => undefined);
      else beforeStored = killLater;
    });
    await server
      .recordMany(Array.from({ length: eventsBetweenKills }, (_, at) => ({ sessionId: `s${at % 4}` })))
      .catch(() => {});
    await wasKilled;
  }
  api.afterStored = () => undefined;
  beforeStored = async () => true;
  const child = await ChildServer.start(options);
  atTestEnd(() => child.kill());
  const server = new TestServer({ url: child.url } as TestServer['server'], apiKey);
  await server.record({});
  const records = await vi.waitFor(
    async () => {
      const size = api.documents.size;
      const lines = await logged(server, 'event', size);
      expect(lines.length).toBe(size);
      expect(await (await fetch(`${child.url}/metrics`)).text()).toContain(
        'actlog_forward_lag_records{forward="elastic"} 0',
      );
      return lines;
    },
    { timeout: 60_000, interval: 500 },
  );
  expect([...api.documents.values()].map(({ metadata: { uid } }) => uid)).toEqual(
    records.map(({ id }) => id),
  );
  expect(records.length).toBeGreaterThan(kills * 10);
  expect(api.conflicts.length).toBeGreaterThan(0);
  expect(api.conflicts.length).toBeLessThanOrEqual(kills * 10);
}, 180_000);
