import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';

function readiness({ server }: TestServer): Promise<number> {
  return fetch(`${server.url}/readyz`).then(({ status }) => status);
}

test.skipIf(onPostgres)('is not ready while a full database accepts no events', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-readiness-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'a.db');
  const server = await testServer({ database, maxDatabaseBytes: 1_000_000 });
  expect(await readiness(server)).toBe(200);
  for (const length of [200_000, 10_000]) {
    const payload = { text: 'x'.repeat(length) };
    const body = () => activityEvent({ category: 'note', payload });
    await vi.waitFor(async () => {
      expect((await server.send('events.create', { body: body() })).status).toBe(503);
    }, 10_000);
  }
  expect(await readiness(server)).toBe(503);
  expect(await readiness(server)).toBe(503);
  // Reads still work, and a server with room becomes ready without any event.
  await server.ok('sessions.list');
  await server.server.close();
  const roomy = await testServer({ database, maxDatabaseBytes: 10_000_000 });
  expect(await readiness(roomy)).toBe(200);
});
