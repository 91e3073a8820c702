import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCheckpoint, parseNote, verifyRecords } from '@actlog/log';
import { expect, test } from 'vitest';
import { readLogPage } from '../../src/evidence/log-reader.ts';
import type { ServerOptions } from '../../src/index.ts';
import { openStorage } from '../../src/open-storage.ts';
import { withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { activityEvent, testServer } from '../test-server.ts';
import { type FeedLine, feed, get, logged, policyOf, verifyServer } from './logged-records.ts';

/** Returns the options of a server that starts again with its database. */
function onDisk(folder: string, options: ServerOptions = {}): ServerOptions {
  return { secret: 'the secret of a server that starts again', ...options, database: join(folder, 'log.db') };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-log-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('logs events, decisions, approvals and audit entries in one order that an outsider verifies', async () => {
  const server = await testServer();
  await server.record({ sessionId: 'a' }, { sessionId: 'b' }, { sessionId: 'a' });
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ sessionId: 'a', actionId: 'x' });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  await logged(server, 'approval', 1);
  const records = await logged(server, 'decision', 1);
  expect(records.map(({ index }) => index)).toEqual(records.map((_, index) => index));
  expect(new Set(records.map(({ kind }) => kind))).toEqual(
    new Set(['event', 'decision', 'approval', 'audit']),
  );
  const report = await verifyServer(server);
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ isProven: true, size: records.length, records: records.length });
});

test('logs an event once, although it is sent again and its session is scored', async () => {
  const server = await testServer();
  const event = activityEvent();
  await server.record(event);
  await logged(server, 'event', 1);
  await server.record(event, { sessionId: event.sessionId });
  await server.ok('sessions.risk', { id: event.sessionId });
  const records = await logged(server, 'event', 2);
  expect(records.filter(({ id }) => id === event.eventId)).toHaveLength(1);
  expect(await verifyServer(server)).toMatchObject({ isProven: true, findings: [] });
});

test('logs what a server recorded before it ended', async () => {
  const options = onDisk(temporaryFolder());
  const first = await testServer(options);
  await first.record({}, {}, {});
  const policy = await policyOf(first);
  await first.server.close();
  const second = await testServer(options);
  const records = await logged(second, 'event', 3);
  const report = await verifyServer(second, policy);
  expect(report).toMatchObject({ isProven: true, findings: [], size: records.length });
});

test('gives a receipt by event and by decision, which proves the record offline', async () => {
  const server = await testServer();
  const payload = { toolName: 'naïve 𝄞', argumentsHash: 'sha256:aa', responseStatus: 200 };
  const [eventId = ''] = await server.record({ payload });
  await server.policy({ effect: 'deny' });
  await server.check({});
  const decision = (await logged(server, 'decision', 1)).find(({ kind }) => kind === 'decision');
  // The denial is an event of its session too.
  await logged(server, 'event', 2);
  const policy = await policyOf(server);
  for (const [kind, id] of [
    ['event', eventId],
    ['decision', decision?.id],
  ]) {
    const response = await get(server, `/server/v1/receipts/${id}?kind=${kind}`);
    expect(response.status).toBe(200);
    const proven = (await response.json()) as FeedLine;
    expect((await verifyRecords([proven], { policy })).findings).toEqual([]);
    const changed = { ...proven, row: { ...(proven.row as object), agentId: 'another' } };
    expect((await verifyRecords([changed], { policy })).findings).toMatchObject([
      { code: 'record-changed', record: { kind, id } },
    ]);
  }
  expect((await get(server, '/server/v1/receipts/none')).status).toBe(404);
});

test('exports all records with receipts for one checkpoint', async () => {
  const server = await testServer();
  await server.recordMany(Array.from({ length: 300 }, (_, index) => ({ sessionId: `s${index % 7}` })));
  await logged(server, 'event', 300);
  const records = await feed(server, '?receipts=true');
  const report = await verifyRecords(records, { policy: await policyOf(server) });
  expect(report.findings).toEqual([]);
  expect(report.records).toBe(records.length);
  const checkpoints = new Set(records.map(({ proof = '' }) => proof.slice(proof.indexOf('\n\n'))));
  expect(checkpoints.size).toBe(1);
});

test('resumes the feed after any index, and waits for the next record', async () => {
  const server = await testServer();
  await server.recordMany(Array.from({ length: 200 }, (_, index) => ({ sessionId: `s${index % 3}` })));
  const all = await logged(server, 'event', 200);
  for (const after of [0, 1, 63, 64, 65, all.length - 2]) {
    expect(await feed(server, `?after=${after}`)).toEqual(all.slice(after + 1));
  }
  expect(await feed(server, '?after=10&limit=70')).toEqual(all.slice(11, 81));
  const last = all.length - 1;
  expect(await feed(server, `?after=${last}`)).toEqual([]);
  const waiting = feed(server, `?after=${last}&waitSeconds=25`);
  const [eventId] = await server.record({});
  expect(await waiting).toMatchObject([{ index: last + 1, id: eventId }]);
});

test('ends the waits of the feed when the server stops', async () => {
  const server = await testServer({});
  const [first] = await logged(server, 'event', 0);
  expect(first?.index ?? 0).toBe(0);
  const waiting = get(server, '/server/v1/feed?after=1000&waitSeconds=25').then((response) =>
    response.text(),
  );
  await get(server, '/healthz');
  await server.server.close();
  await waiting.catch(() => '');
});

test('shows audit entries in the feed only to callers with every scope', async () => {
  const server = await testServer();
  await server.policy({});
  await server.record({});
  await logged(server, 'event', 1);
  await logged(server, 'audit', (await feed(server)).filter(({ kind }) => kind === 'audit').length);
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'reader',
    scopes: ['read'],
  });
  const reader = server.as(apiKey);
  expect(new Set((await feed(reader)).map(({ kind }) => kind))).toEqual(new Set(['event']));
  const audit = (await feed(server)).find(({ kind }) => kind === 'audit');
  expect((await get(reader, `/server/v1/receipts/${audit?.id}?kind=audit`)).status).toBe(403);
  expect((await get(server, `/server/v1/receipts/${audit?.id}?kind=audit`)).status).toBe(200);
});

test('serves checkpoint and tiles without a key, unless the settings demand one', async () => {
  const open = await testServer({});
  await open.record({});
  await logged(open, 'event', 1);
  const url = `${open.server.url}/log/default`;
  const note = parseNote(await (await fetch(`${url}/checkpoint`)).text());
  const { size, origin } = parseCheckpoint(note.text);
  expect(origin).toMatch(/^actlog-[0-9a-f]{8}\/default\/1$/);
  const tile = await fetch(`${url}/tile/0/000.p/${size}`);
  expect((await tile.arrayBuffer()).byteLength).toBe(32 * size);
  expect((await fetch(`${url}/tile/0/000.p/${size + 1}`)).status).toBe(404);
  expect((await fetch(`${url}/tile/0/../x`)).status).toBe(404);
  expect((await fetch(`${open.server.url}/log/other/checkpoint`)).status).toBe(404);

  const closed = await testServer({ logAccess: 'key' });
  expect((await fetch(`${closed.server.url}/log/default/checkpoint`)).status).toBe(401);
  expect((await get(closed, '/log/default/checkpoint')).status).toBe(200);
  await closed.server.admin.tenants.create('other');
  expect((await get(closed, '/log/other/checkpoint')).status).toBe(404);
});

test('signs with the previous key too while it is set', async () => {
  const keys = {
    old: 'the old secret of the logs, long enough',
    new: 'the new secret of the logs, long enough',
  };
  const folder = temporaryFolder();
  const first = await testServer(onDisk(folder, { logKey: keys.old }));
  await first.record({});
  await logged(first, 'event', 1);
  const oldPolicy = await policyOf(first);
  await first.server.close();

  const second = await testServer(onDisk(folder, { logKey: keys.new, previousLogKey: keys.old }));
  await second.record({});
  await logged(second, 'event', 2);
  expect(await verifyServer(second, oldPolicy)).toMatchObject({ isProven: true, findings: [] });
  const newPolicy = await policyOf(second);
  expect(newPolicy.logs[0]?.key.text).not.toBe(oldPolicy.logs[0]?.key.text);
  expect(await verifyServer(second, newPolicy)).toMatchObject({ isProven: true, findings: [] });
  await second.server.close();

  const third = await testServer(onDisk(folder, { logKey: keys.new }));
  expect(await verifyServer(third, newPolicy)).toMatchObject({ isProven: true, findings: [] });
  expect(await verifyServer(third, oldPolicy)).toMatchObject({
    findings: [{ code: 'checkpoint-untrusted' }],
  });
});

test('signs with the key of its secret, which no other deployment has', async () => {
  const first = await policyOf(await testServer({ secret: 'the secret of the first deployment, long' }));
  const second = await policyOf(await testServer({ secret: 'the secret of the second deployment, long' }));
  expect(first.logs[0]?.key.text).not.toBe(second.logs[0]?.key.text);
});

test('logs payloads with odd strings and exact numbers', async () => {
  const server = await testServer();
  const payloads = [
    { text: '\ud800 half of a pair' },
    { text: 'a backslash: \\ud800' },
    { text: '\ud83d\ude00 \u2028 \u0000', zero: -0, large: 1e21, small: 5e-324 },
  ].map((payload) => ({ category: 'note', payload }));
  await server.record(...payloads);
  const body = JSON.stringify(activityEvent({ category: 'note', payload: { amount: 'N' } }));
  await server.ok('events.create', { body: body.replace('"N"', '1917043659912705297') });
  await logged(server, 'event', 4);
  expect(await verifyServer(server)).toMatchObject({ isProven: true, findings: [] });
});

test('counts entries and the lag in the metrics', async () => {
  const server = await testServer({});
  await server.record({}, {});
  const records = await logged(server, 'event', 2);
  const metrics = await (await fetch(`${server.server.url}/metrics`)).text();
  expect(metrics).toContain(`actlog_log_entries_total ${records.length}`);
  expect(metrics).toMatch(/^actlog_log_lag_seconds \d/m);
});

test('appends nothing while it is turned off, and later what was recorded meanwhile', async () => {
  const options = onDisk(temporaryFolder());
  const server = await testServer({ ...options, keepLog: false });
  await server.record({ sessionId: 'a' }, { sessionId: 'a' });
  await server.server.close();
  const again = await testServer(options);
  await again.record({ sessionId: 'b' });
  expect((await logged(again, 'event', 3)).filter(({ kind }) => kind === 'event')).toHaveLength(3);
  const report = await verifyServer(again);
  expect(report).toMatchObject({ isProven: true, findings: [] });
});

test('has an empty log while it is turned off', async () => {
  const server = await testServer({ keepLog: false });
  await server.record({ sessionId: 'a' });
  await server.ok('sessions.risk', { id: 'a' });
  const { text } = parseNote(await (await get(server, '/log/default/checkpoint')).text());
  expect(parseCheckpoint(text).size).toBe(0);
});

test('reads many small records at once, and fewer that are large', async () => {
  const options = await withTestDatabase(onDisk(temporaryFolder()));
  const server = await testServer(options);
  const storage = await openStorage({ database: options.database as string });
  atTestEnd(() => storage.close());
  await server.recordMany(Array.from({ length: 300 }, (_, at) => ({ sessionId: `small-${at % 3}` })));
  const page = (after: number) => storage.read(1, (db) => readLogPage(db, 1, after, 1000));
  const small = await logged(server, 'event', 300);
  expect((await page(-1)).records.length).toBe(small.length);
  const large = { category: 'plan', payload: { text: 'x'.repeat(100_000) } };
  await server.recordMany(
    Array.from({ length: 150 }, (_, at) => ({ ...large, sessionId: `large-${at % 2}` })),
  );
  const all = await logged(server, 'event', 450);
  const seen: string[] = [];
  for (let after = -1; after < all.length - 1; ) {
    const { records, last = 0 } = await page(after);
    expect(records.length).toBeLessThan(150);
    seen.push(...records.map(({ record }) => record.id));
    after = last;
  }
  expect(seen).toEqual(all.map(({ id }) => id));
});
