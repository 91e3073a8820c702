import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePolicy } from '@actlog/log';
import { expect, test, vi } from 'vitest';
import { start } from '../../../cli/tests/command-line.ts';
import type { ServerOptions } from '../../src/index.ts';
import { createDatabase, onPostgres, withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { type FeedLine, feed, get, logged, policyOf, verifyServer } from './logged-records.ts';

async function keyOf(server: TestServer): Promise<string> {
  return (await policyOf(server)).logs[0]?.key.text ?? '';
}

/** Starts `actlog log witness` for a log, and returns its verifier key and URL. */
async function witnessOf(
  log: string,
  cwd: string,
  name = 'witness.test',
): Promise<{ key: string; url: string }> {
  const args = [
    'log',
    'witness',
    '--name',
    name,
    '--key-file',
    `${name}.key`,
    '--state',
    name,
    '--log',
    log,
    '--port',
    '0',
  ];
  const running = start(args, { cwd });
  atTestEnd(async () => {
    running.kill('SIGTERM');
    await running.exit;
  });
  return vi.waitFor(
    () => {
      const [, key = '', url = ''] =
        /^Verifier key: (\S+)\nWitness: (\S+)\n/.exec(running.stdout.text) ??
        expect.fail(running.stderr.text);
      return { key, url };
    },
    { timeout: 10_000 },
  );
}

async function copyOf(from: ServerOptions): Promise<ServerOptions> {
  if (onPostgres) {
    return { ...from, database: await createDatabase(new URL(from.database as string).pathname.slice(1)) };
  }
  copyFileSync(from.database as string, `${from.database}.copy`);
  return { ...from, database: `${from.database}.copy` };
}

test('publishes what a witness has cosigned, and nothing after the restore of an old backup', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-witness-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const options = await withTestDatabase({
    database: join(folder, 'a.db'),
    secret: 'the secret of a server whose log has a witness',
  });
  const first = await testServer(options);
  await first.record({});
  await logged(first, 'event', 1);
  const log = await keyOf(first);
  await first.server.close();
  const backup = await copyOf(options);

  const witness = await witnessOf(log, folder);
  const witnessed = { logWitnesses: [`${witness.key} ${witness.url}`] };
  const policy = parsePolicy(`log ${log}\nwitness w ${witness.key}\nquorum w\n`);
  const second = await testServer({ ...options, ...witnessed });
  const [eventId] = await second.record({}, {});
  await logged(second, 'event', 3);
  const size = (await feed(second)).length;
  await vi.waitFor(async () => {
    const report = await verifyServer(second, policy);
    expect(report).toMatchObject({ isProven: true, findings: [], size });
    expect(report.witnessed).toMatchObject([{ size, witness: 'witness.test' }]);
  });
  const response = await get(second, `/server/v1/receipts/${eventId}`);
  const receipt = (await response.json()) as FeedLine;
  expect(receipt.proof).toContain('— witness.test ');
  await second.server.close();

  // A new witness knows nothing of what the first one saw, and would cosign.
  const other = await witnessOf(log, folder, 'other.test');
  const logWitnesses = [...witnessed.logWitnesses, `${other.key} ${other.url}`];
  const restored = await testServer({ ...backup, logWitnesses });
  await restored.record({}, {}, {}, {}, {}, {}, {});
  await logged(restored, 'event', 8);
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${restored.server.url}/metrics`)).text();
    expect(metrics).toMatch(/^actlog_log_refused_total [1-9]/m);
  });
  const anyWitness = `log ${log}\nwitness w ${witness.key}\nwitness o ${other.key}\ngroup any 1 w o\nquorum any\n`;
  expect(await verifyServer(restored, parsePolicy(anyWitness))).toMatchObject({
    findings: [{ code: 'checkpoint-untrusted' }],
  });
});
