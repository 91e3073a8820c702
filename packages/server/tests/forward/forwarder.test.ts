import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ServerOptions } from '../../src/index.ts';
import { openStorage } from '../../src/open-storage.ts';
import { feed, logged } from '../evidence/logged-records.ts';
import { withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { ocsfProblems } from './ocsf-validator.ts';
import { BulkApi, startReceiver } from './receivers.ts';

/** Reads a web page, then secrets, and sends them away: risky for the engine. */
const riskyTools = ['fetch_web_page', 'read_private_file', 'get_credentials', 'send_email', 'delete_user'];

/** Returns a folder with a file that has the API key. */
function folderWithKey(): { readonly folder: string; readonly apiKey: { readonly file: string } } {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-forward-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'api-key');
  writeFileSync(file, 'c2VjcmV0\n');
  return { folder, apiKey: { file } };
}

function elastic(url: string, apiKey: { readonly file: string }, more = {}): ServerOptions {
  return { forward: [{ kind: 'elastic', url, index: 'agents', apiKey, ...more }] };
}

/** Waits until a destination has all records of the feed, and expects them once, in the order of the log. */
async function expectAll(server: TestServer, api: BulkApi): Promise<void> {
  const records = await feed(server);
  await vi.waitFor(
    () =>
      expect([...api.documents.values()].map(({ metadata: { uid } }) => uid)).toEqual(
        records.map(({ id }) => id),
      ),
    { timeout: 30_000, interval: 50 },
  );
}

async function metric(server: TestServer, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${server.server.url}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

test('forwards each record once and in order, in batches', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { apiKey } = folderWithKey();
  const server = await testServer(elastic(url, apiKey, { batchRecords: 7 }));
  await server.policy({ effect: 'deny' });
  await server.recordMany(Array.from({ length: 100 }, (_, at) => ({ sessionId: `s${at % 5}` })));
  await server.check({ sessionId: 's1' });
  await logged(server, 'decision', 1);
  await logged(server, 'event', 101);
  await expectAll(server, api);
  expect(api.conflicts).toEqual([]);
  await vi.waitFor(async () =>
    expect(await metric(server, 'actlog_forward_lag_records{forward="elastic"}')).toBe(0),
  );
  expect(await metric(server, 'actlog_forward_records_total{forward="elastic"}')).toBe(api.documents.size);
});

test('keeps records through an outage and restarts, and sends them when the destination is back', async () => {
  const api = new BulkApi();
  const receiver = await startReceiver(api.handle);
  await receiver.close();
  const { folder, apiKey } = folderWithKey();
  const options = {
    ...elastic(receiver.url, apiKey),
    database: join(folder, 'forward.db'),
    secret: 'the one secret of all servers in these tests',
  };
  const first = await testServer(options);
  await first.record({}, {});
  const failures = 'actlog_forward_failures_total{forward="elastic",reason="unreachable"}';
  await vi.waitFor(async () => expect(await metric(first, failures)).toBeGreaterThan(0), { timeout: 10_000 });
  await first.server.close();
  const second = await testServer(options);
  await second.record({});
  api.refusals.push({ status: 503, headers: { 'retry-after': '1' } }, 'hang up');
  await startReceiver(api.handle, receiver.port);
  await logged(second, 'event', 3);
  await expectAll(second, api);
  expect(api.refusals).toEqual([]);
  expect(api.conflicts).toEqual([]);
});

test('waits as long as the destination requests', async () => {
  const api = new BulkApi();
  api.refusals.push({ status: 429, headers: { 'retry-after': '1800' } });
  const { url } = await startReceiver(api.handle);
  const { folder, apiKey } = folderWithKey();
  const options = await withTestDatabase({ ...elastic(url, apiKey), database: join(folder, 'forward.db') });
  const server = await testServer(options);
  const sinceMs = Date.now();
  await server.record({});
  const storage = await openStorage({
    database: options.database as string,
    maxBytes: undefined,
    connections: 2,
    quotas: {},
    onProgress: () => {},
  });
  atTestEnd(() => storage.close());
  const position = await vi.waitFor(
    async () => {
      const row = await storage.read(1, (db) =>
        db.selectFrom('forward_positions').selectAll().executeTakeFirstOrThrow(),
      );
      expect(row.failures).toBe(1);
      return row;
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(position).toMatchObject({ position: -1, lease: null, last_error: expect.stringContaining('429') });
  expect(position.next_attempt_ms).toBeGreaterThanOrEqual(sinceMs + 1_800_000);
});

test('shares the work of several servers, which send each record once', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { folder, apiKey } = folderWithKey();
  const secret = 'the one secret of all servers in these tests';
  const options = {
    ...elastic(url, apiKey, { batchRecords: 5 }),
    database: join(folder, 'forward.db'),
    secret,
  };
  const servers = [await testServer(options), await testServer(options)];
  for (const server of servers) {
    await server.recordMany(Array.from({ length: 60 }, (_, at) => ({ sessionId: `s${at % 3}` })));
  }
  const [first] = servers as [TestServer];
  await logged(first, 'event', 120);
  await expectAll(first, api);
  expect(api.conflicts).toEqual([]);
});

test('sends a batch again whose acknowledgement was lost', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { apiKey } = folderWithKey();
  let lost = 0;
  api.afterStored = () => {
    lost += 1;
    return lost === 1 ? Promise.resolve({ status: 502 }) : undefined;
  };
  const server = await testServer(elastic(url, apiKey));
  await server.record({}, {});
  await logged(server, 'event', 2);
  await expectAll(server, api);
  await vi.waitFor(() => expect(api.conflicts.length).toBeGreaterThan(0), { timeout: 10_000 });
  // A conflict counts as sent.
  await vi.waitFor(
    async () => {
      expect(await metric(server, 'actlog_forward_records_total{forward="elastic"}')).toBe(2);
      expect(await metric(server, 'actlog_forward_lag_records{forward="elastic"}')).toBe(0);
    },
    { timeout: 20_000 },
  );
});

test('sends a document whose fields the mapping rejects with these fields as text', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { apiKey } = folderWithKey();
  api.rejects = ({ unmapped }) => (unmapped && 'step' in (unmapped as object) ? 400 : undefined);
  const server = await testServer(elastic(url, apiKey));
  await server.record({ category: 'custom', payload: { step: { deep: 1 } } });
  await logged(server, 'event', 1);
  await vi.waitFor(
    () => expect([...api.documents.values()]).toMatchObject([{ raw_data: '{"step":{"deep":1}}' }]),
    { timeout: 10_000 },
  );
});

test('sends only the configured kinds and tenants', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { apiKey } = folderWithKey();
  const server = await testServer(elastic(url, apiKey, { records: ['audit'], tenants: ['default'] }));
  await server.record({});
  await server.policy({});
  await logged(server, 'event', 1);
  await vi.waitFor(() => expect(api.documents.size).toBeGreaterThan(0), { timeout: 10_000 });
  for (const { metadata } of api.documents.values()) expect(metadata.uid).toMatch(/^aud_/);
});

test('names the field, the problem and the fix of invalid settings', async () => {
  const refused = async (forward: unknown) =>
    testServer({ forward } as ServerOptions).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  expect(await refused('[{')).toContain('forward: must be valid JSON');
  expect(await refused('/missing.json')).toContain('path of a file that can be read (ENOENT)');
  expect(await refused([{ kind: 'kafka' }])).toContain(
    'forward.0.kind: must be one of splunk, elastic, s3, syslog, otlp',
  );
  expect(await refused([{ kind: 'splunk', url: 'http://x', token: 'xyz-4711' }])).toContain(
    'forward.0.token: must be {"file":"/run/secrets/token"}',
  );
  expect(await refused([{ kind: 'splunk', url: 'http://x', token: 'xyz-4711' }])).not.toContain('xyz-4711');
  expect(await refused([{ kind: 'elastic', url: 'http://a:xyz-4711@x' }])).toContain(
    'must not contain a user name',
  );
  const twice = { kind: 'elastic', url: 'http://x' };
  expect(await refused([twice, twice])).toContain('forward.1.name: must differ from the other names');
  expect(await refused([{ ...twice, apiKey: { file: '/missing' } }])).toContain(
    'forward.elastic.apiKey: the file "/missing" cannot be read (ENOENT)',
  );
  expect(await refused([{ ...twice, apiKey: { variable: 'ACTLOG_TEST_UNSET' } }])).toContain(
    'ACTLOG_TEST_UNSET is not set',
  );
});

test('sends raises of the risk of sessions as findings, once for each level', async () => {
  const api = new BulkApi();
  const { url } = await startReceiver(api.handle);
  const { apiKey } = folderWithKey();
  const server = await testServer(elastic(url, apiKey));
  for (const [second, toolName] of riskyTools.entries()) {
    await server.record({
      sessionId: 'risky',
      sourceTimestamp: new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString(),
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
    });
  }
  const { level } = await server.ok('sessions.risk', { id: 'risky' });
  expect(level).not.toBe('low');
  const findings = () => [...api.documents.values()].filter(({ class_uid: uid }) => uid === 2004);
  await vi.waitFor(
    () =>
      expect(findings().at(-1)).toMatchObject({
        severity: level.replace(/^./, (letter) => letter.toUpperCase()),
        finding_info: { uid: 'risky' },
      }),
    { timeout: 20_000 },
  );
  for (const { '@timestamp': _time, ...finding } of findings()) expect(ocsfProblems(finding)).toEqual([]);
  const { length } = findings();
  await server.record({});
  await logged(server, 'event', riskyTools.length + 1);
  await vi.waitFor(() => expect(api.documents.size).toBe(riskyTools.length + 1 + length), {
    timeout: 20_000,
  });
  expect(findings()).toHaveLength(length);
});
