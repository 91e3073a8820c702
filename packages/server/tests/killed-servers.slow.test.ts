import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ChildServer } from './child-server.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, testServer } from './test-server.ts';

/** Number of times the server is killed; set it higher for a long run. */
const kills = Number(process.env.ACTLOG_TEST_KILLS ?? 4);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-survival-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
});

/** Sends events until the server is gone, and returns the acknowledged ones. */
async function sendUntilGone(url: string, apiKey: string, round: number, onAck: () => void) {
  const acknowledged: { eventId: string; sessionId: string }[] = [];
  const sender = async (offset: number): Promise<void> => {
    for (let index = 0; index < 10_000; index += 1) {
      const event = activityEvent({ sessionId: `s-${round}-${(offset + index) % 3}` });
      try {
        const response = await fetch(`${url}/v1/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(event),
        });
        if (response.status !== 202) return;
        acknowledged.push(event);
        onAck();
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, offset) => sender(offset)));
  return acknowledged;
}

test(`keeps every acknowledged event, and no partial session, when killed under load ${kills} times`, {
  timeout: 60_000 + kills * 20_000,
}, async () => {
  const apiKey = newApiKey('test');
  const options = { database: join(folder, 'a.db'), docs: false, apiKey };
  const acknowledged: { eventId: string; sessionId: string }[] = [];
  for (let round = 0; round < kills; round += 1) {
    const child = await ChildServer.start(options);
    let acks = 0;
    let killed: Promise<void> | undefined;
    const killAfter = 20 + Math.floor(Math.random() * 400);
    const got = await sendUntilGone(child.url, apiKey, round, () => {
      acks += 1;
      if (acks >= killAfter) killed ??= child.kill();
    });
    await killed;
    acknowledged.push(...got);
  }
  const server = (await testServer(options)).as(apiKey);
  for (const [sessionId, events] of Map.groupBy(acknowledged, (event) => event.sessionId)) {
    const { events: kept, ...document } = await server.ok('sessions.export', { id: sessionId });
    const ids = new Set(kept.map(({ eventId }) => eventId));
    expect(ids.size).toBe(kept.length);
    expect(events.filter(({ eventId }) => !ids.has(eventId))).toEqual([]);
    expect([document.session.eventCount, document.risk.eventCount]).toEqual([kept.length, kept.length]);
  }
});

/** Wraps a command to run in its own mount namespace, where the folder is a file system of four megabytes. */
function onSmallFileSystem(folder: string): string[] {
  const mount = 'mount -t tmpfs -o size=4m tmpfs "$0" && head -c 1000000 /dev/zero > "$0/other" && exec "$@"';
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', mount, folder];
}

const canMount = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;

test.skipIf(onPostgres || !canMount)(
  'responds 503 when the file system is full, loses nothing, and recovers when space is freed',
  async () => {
    const apiKey = newApiKey('test');
    const child = await ChildServer.start(
      { database: join(folder, 'a.db'), apiKey, docs: false },
      onSmallFileSystem(folder),
    );
    try {
      const send = (method: string, path: string, body?: object) =>
        fetch(child.url + path, {
          method,
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
      const event = () => activityEvent({ category: 'note', payload: { text: 'x'.repeat(60_000) } });
      const acknowledged: string[] = [];
      let refusal: Response | undefined;
      for (let index = 0; index < 100 && !refusal; index += 1) {
        const body = event();
        const response = await send('POST', '/v1/events', body);
        if (response.status === 202) acknowledged.push(body.eventId);
        else refusal = response;
      }
      expect([refusal?.status, refusal?.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await refusal?.json()).toMatchObject({ error: { code: 'OVERLOADED' } });
      rmSync(child.pathOf(join(folder, 'other')));
      const body = event();
      expect((await send('POST', '/v1/events', body)).status).toBe(202);
      acknowledged.push(body.eventId);
      const { events } = (await (await send('GET', '/v1/sessions/thread-1/export.json')).json()) as {
        events: { eventId: string }[];
      };
      expect(events.map(({ eventId }) => eventId).sort()).toEqual(acknowledged.sort());
      expect(acknowledged.length).toBeGreaterThan(10);
    } finally {
      await child.kill();
    }
  },
);
