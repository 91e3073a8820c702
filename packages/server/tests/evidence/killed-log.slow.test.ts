import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpLog, openCheckpoint, trustPolicy, verifyLog } from '@actlog/log';
import { expect, test, vi } from 'vitest';
import { openStorage } from '../../src/open-storage.ts';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { ChildServer } from '../child-server.ts';
import { testSecret, withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { activityEvent, testServer } from '../test-server.ts';
import { feed, verifyServer } from './logged-records.ts';

/** Number of times that the servers are killed; set it higher for a long run. */
const kills = Number(process.env.ACTLOG_TEST_KILLS ?? 4);

/** Sends events until the server is gone, and adds the acknowledged ones. */
async function sendUntilGone(url: string, apiKey: string, acknowledged: Set<string>): Promise<void> {
  for (;;) {
    const event = activityEvent({ sessionId: `s-${acknowledged.size % 5}` });
    try {
      const response = await fetch(`${url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(event),
      });
      if (response.status !== 202) return;
      acknowledged.add(event.eventId);
    } catch {
      return;
    }
  }
}

/** Reads checkpoints until the server is gone, and keeps the newest of each size. */
async function readUntilGone(url: string, seen: Set<string>): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`${url}/log/default/checkpoint`);
      if (response.status === 200) seen.add(await response.text());
    } catch {
      return;
    }
  }
}

/** Returns the number of acknowledged events without an entry in the log. */
async function waitingEvents(database: string): Promise<number> {
  const storage = await openStorage({ database, connections: 2 });
  const sessions = await storage.read(1, (db) =>
    db.selectFrom('sessions').select(['last_arrival', 'log_arrival']).where('tenant_id', '=', 1).execute(),
  );
  await storage.close();
  return sessions.reduce((sum, row) => sum + Number(row.last_arrival) - Number(row.log_arrival), 0);
}

test(`loses no record and signs no second history when two servers are killed ${kills} times`, {
  timeout: 120_000 + kills * 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-killed-log-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const apiKey = newApiKey('test');
  const options = await withTestDatabase({
    database: join(folder, 'a.db'),
    docs: false,
    secret: testSecret,
    apiKey,
    // Attempts of this test are not those of an attacker.
    rateLimit: false,
  });
  const acknowledged = new Set<string>();
  const checkpoints = new Set<string>();
  let behind = 0;
  for (let round = 0; round < kills; round += 1) {
    const servers = [await ChildServer.start(options), await ChildServer.start(options)];
    const work = servers.flatMap(({ url }) => [
      ...Array.from({ length: 6 }, () => sendUntilGone(url, apiKey, acknowledged)),
      readUntilGone(url, checkpoints),
    ]);
    // Until checkpoints of this round were seen, and then at any instant.
    const before = checkpoints.size;
    const killAfter = before + 2 + (round % 2);
    while (checkpoints.size < killAfter) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(work);
    behind += await waitingEvents(options.database as string);
  }
  // They were killed between rows and their entries.
  expect(behind).toBeGreaterThan(0);
  const server = (await testServer(options)).as(apiKey);
  const events = await vi.waitFor(
    async () => {
      const records = await feed(server);
      const ids = records.filter(({ kind }) => kind === 'event').map(({ id }) => id);
      const stored = new Set(ids);
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
      return ids;
    },
    { timeout: 30_000, interval: 100 },
  );
  expect(new Set(events).size).toBe(events.length);
  expect(await verifyServer(server)).toMatchObject({ isProven: true, findings: [] });

  const response = await fetch(`${server.server.url}/log/default/key`);
  const policy = trustPolicy((await response.text()).trim());
  const keys = policy.logs.map(({ key }) => key);
  const roots = new Map<number, string>();
  for (const note of checkpoints) {
    const { size, root } = openCheckpoint(note, keys);
    expect(roots.get(size) ?? Buffer.from(root).toString('hex')).toBe(Buffer.from(root).toString('hex'));
    roots.set(size, Buffer.from(root).toString('hex'));
  }
  const earlier = [...checkpoints].map((checkpoint) => ({ checkpoint }));
  const report = await verifyLog(httpLog(`${server.server.url}/log/default`), { policy, earlier });
  expect(report).toMatchObject({ isProven: true, findings: [] });
});
