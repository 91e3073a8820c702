import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteExpiredData, recordRetentions } from '../src/background/background-tasks.ts';
import type { ServerOptions } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { auditEntries } from './audit-entries.ts';
import { runHere } from './command-line.ts';
import { onPostgres, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

const dayMs = 24 * 3_600_000;

/** Returns a server, the path of its database for further servers, and the storage of another process. */
async function withStorage(
  options: ServerOptions = {},
): Promise<{ server: TestServer; storage: Storage; database: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-floors-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  const server = await testServer({ ...options, database });
  const shared = await withTestDatabase({ database });
  const storage = await openStorage({ database: shared.database ?? '', connections: 2 });
  atTestEnd(() => storage.close());
  return { server, storage, database };
}

/** Denies an action, which waited for an approver. */
async function deniedAction(server: TestServer, sessionId: string): Promise<void> {
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ sessionId, actionId: 'a' });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'deny' },
  });
}

function countOf(storage: Storage, table: 'policy_decisions' | 'pending_actions' | 'audit_log') {
  return storage.read(
    1,
    async (db) => (await db.selectFrom(table).select('id').where('tenant_id', '=', 1).execute()).length,
  );
}

test('refuses a retention below the floor at the start, and names both values and the settings', async () => {
  await expect(testServer({ retention: { decisions: 30 } })).rejects.toThrow(
    'The retention of decisions in "retention" (ACTLOG_RETENTION) is 30 days, less than their floor of 183 days in "retentionFloors" (ACTLOG_RETENTION_FLOORS)',
  );
  await testServer({ retention: { decisions: 30 }, retentionFloors: { decisions: 30 } });
  await expect(testServer({ retention: { events: 30 } as never })).rejects.toThrow(
    'retention: must name classes of records; the classes are: sessions, decisions, approvals, audit',
  );
});

test('refuses a retention of a tenant below the floor, also a floor that is raised later', async () => {
  const { server, database } = await withStorage();
  const { tenants } = server.server.admin;
  await expect(tenants.setRetention('default', { approvals: 182 })).rejects.toThrow(
    'is 182 days, less than their floor of 183 days in "retentionFloors" (ACTLOG_RETENTION_FLOORS)',
  );
  await tenants.setRetention('default', { approvals: 200 });
  await expect(testServer({ database, retentionFloors: { approvals: 365 } })).rejects.toThrow(
    'The retention of approvals in the tenant "default" is 200 days, less than their floor of 365 days',
  );
  await tenants.setRetention('default', { approvals: 'default' });
  await testServer({ database, retentionFloors: { approvals: 365 } });
  // Also in a process that was not given the setting.
  await expect(tenants.setRetention('default', { approvals: 200 })).rejects.toThrow('floor of 365 days');
});

test('keeps decisions and approvals of sessions that retention deletes', async () => {
  const { server, storage } = await withStorage({ retention: { sessions: 1 } });
  await server.record({ sessionId: 's' });
  await deniedAction(server, 's');
  await deleteExpiredData(storage, Date.now() + 182 * dayMs);
  expect((await server.ok('sessions.list')).items).toEqual([]);
  expect(await countOf(storage, 'policy_decisions')).toBe(1);
  expect(await countOf(storage, 'pending_actions')).toBe(1);
  await deleteExpiredData(storage, Date.now() + 184 * dayMs);
  expect(await countOf(storage, 'policy_decisions')).toBe(0);
  expect(await countOf(storage, 'pending_actions')).toBe(1);
  await deleteExpiredData(storage, Date.now() + 366 * dayMs);
  expect(await countOf(storage, 'pending_actions')).toBe(0);
});

test('deletes nothing before its floor by hand, but for an erasure, which the log has with its reason', async () => {
  const { server } = await withStorage();
  await server.record({ sessionId: 's' });
  await deniedAction(server, 's');
  const { sessions, tenants } = server.server.admin;
  const isFloored = 'of less than 183 days, the floor in "retentionFloors" (ACTLOG_RETENTION_FLOORS)';
  await expect(sessions.delete('default', 's')).rejects.toThrow(isFloored);
  await expect(tenants.delete('default')).rejects.toThrow(isFloored);
  expect(await server.ok('sessions.get', { id: 's' })).toMatchObject({ eventCount: expect.any(Number) });
  await sessions.delete('default', 's', { erasure: 'Request 12' });
  expect(await auditEntries(server, '&action=session.deleted')).toMatchObject([
    { target: { id: 's' }, changes: [{ field: 'erasure', before: null, after: 'Request 12' }] },
  ]);
});

test('has the retention in force, each change of it and what it deleted in the log', async () => {
  const { server, storage } = await withStorage({ retention: { sessions: 1 } });
  await recordRetentions(storage);
  await recordRetentions(storage);
  await server.server.admin.tenants.setRetention('default', { sessions: 2 });
  expect(await auditEntries(server, '&action=tenant.retention_changed')).toMatchObject([
    { actor: { kind: 'operator' }, changes: [{ field: 'sessionsDays', before: 1, after: 2 }] },
    {
      actor: { kind: 'server' },
      changes: expect.arrayContaining([{ field: 'auditFloorDays', before: null, after: 183 }]),
    },
  ]);
  await server.record({ sessionId: 'a' });
  await server.record({ sessionId: 'b' });
  await deleteExpiredData(storage, Date.now() + 3 * dayMs);
  await expect
    .poll(async () => {
      const feed = await fetch(`${server.server.url}/server/v1/feed`, {
        headers: { authorization: `Bearer ${server.apiKey}` },
      });
      const records = (await feed.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      return records.filter(({ kind }) => kind === 'deletion').map(({ row }) => row);
    })
    .toMatchObject([
      {
        by: 'retention',
        days: 2,
        kind: 'event',
        sessions: 2,
        records: 2,
        before: expect.stringMatching(/Z$/),
        entries: expect.any(Array),
      },
    ]);
});

test.skipIf(onPostgres)('sets and lists the retention by command', async () => {
  const { database } = await withStorage();
  const command = (...args: string[]) => runHere([...args, '--database', database]);
  await command('retention', '90');
  await command('retention', 'forever', '--approvals');
  expect((await command('retention')).stdout).toBe(
    [
      'sessions\t90 days\tfloor 0 days',
      'decisions\t183 days\tfloor 183 days',
      'approvals\tforever\tfloor 183 days',
      'audit\t365 days\tfloor 183 days',
      '',
    ].join('\n'),
  );
  await command('retention', 'default');
  expect((await command('retention')).stdout).toContain('sessions\tforever');
  await expect(command('retention', '30', '--decisions')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is 30 days, less than their floor of 183 days in "retentionFloors"'),
  });
  const { stdout } = await command(
    'legal-holds',
    'create',
    'Case 4711',
    '--agent',
    'billing',
    '--since',
    '2026-11-01',
  );
  const id = stdout.trim();
  expect((await command('legal-holds', 'list')).stdout).toMatch(
    new RegExp(`^${id}\tCase 4711\tagent billing since 2026-11-01T00:00:00.000Z\tplaced .*Z\tin force\n$`),
  );
  await command('legal-holds', 'release', id);
  expect((await command('legal-holds', 'list')).stdout).toBe('');
  expect((await command('legal-holds', 'list', '--all')).stdout).toContain('\treleased ');
});
