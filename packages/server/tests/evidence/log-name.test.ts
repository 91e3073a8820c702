import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { feed, logged, verifyServer } from './logged-records.ts';

test('names the former log in the first entry under another name, and the former key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-log-name-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const options = await withTestDatabase({ database: join(folder, 'a.db'), secret: 'x'.repeat(40) });
  const logKey = 'the first key of the log, long enough';
  const first = await testServer({ ...options, logName: 'old.example.com', logKey });
  await first.record({});
  const { length } = await logged(first, 'event', 1);
  await first.server.close();

  const second = await testServer({ ...options, logName: 'new.example.com', logKey });
  const [, ...later] = (await feed(second)).slice(length - 1);
  expect(later).toMatchObject([
    {
      kind: 'audit',
      row: {
        action: 'tenant.log_changed',
        actor: { kind: 'server' },
        changes: [
          { field: 'origin', before: 'old.example.com/default/1', after: 'new.example.com/default/1' },
        ],
      },
    },
  ]);
  expect(await verifyServer(second)).toMatchObject({ isProven: true, origin: 'new.example.com/default/1' });
  await second.server.close();

  const rotated = {
    ...options,
    logName: 'new.example.com',
    logKey: 'the second key of the log, long enough',
    previousLogKey: logKey,
  };
  const changes = async (server: TestServer) =>
    (await feed(server)).filter(({ kind }) => kind === 'audit').map(({ row }) => row);
  const third = await testServer(rotated);
  expect((await changes(third)).at(-1)).toMatchObject({
    action: 'tenant.log_changed',
    changes: [{ field: 'publicKey', before: expect.any(String), after: expect.any(String) }],
  });
  const { length: known } = await changes(third);
  await third.server.close();
  // The next start changes nothing.
  expect(await changes(await testServer(rotated))).toHaveLength(known);
});
