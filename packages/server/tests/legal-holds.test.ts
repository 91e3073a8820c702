import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { auditEntries } from './audit-entries.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

const dayMs = 24 * 3_600_000;

/** Returns a server, and the storage of another process on the same database. */
async function twoProcesses(): Promise<{ server: TestServer; storage: Storage }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-legal-holds-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = { database: join(folder, 'actlog.db') };
  const server = await testServer(options);
  const { database = '' } = await withTestDatabase(options);
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  return { server, storage };
}

/** Records a session with an event, a decision and an approved action. */
async function busySession(server: TestServer, agentId: string, sessionId: string): Promise<void> {
  await server.record({ agentId, sessionId });
  const action = { toolName: 'refund', argumentsHash: 'sha256:1' };
  const { pendingActionId } = await server.check({ agentId, sessionId, actionId: `a-${sessionId}`, action });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
}

/** Returns what is left of sessions, by session. */
function left(storage: Storage): Promise<Record<string, string[]>> {
  return storage.read(1, async (db) => {
    const found: Record<string, string[]> = {};
    const tables = ['events', 'policy_decisions', 'pending_actions'] as const;
    for (const table of tables) {
      const rows = await db.selectFrom(table).select('session_id').where('tenant_id', '=', 1).execute();
      for (const id of new Set(rows.map(({ session_id }) => session_id as string))) {
        found[id] = [...(found[id] ?? []), table];
      }
    }
    return found;
  });
}

const everything = ['events', 'policy_decisions', 'pending_actions'];

test('keeps what a legal hold covers from the cleanup until it is released', async () => {
  const { server, storage } = await twoProcesses();
  await server.policy({ effect: 'require_approval' });
  await server.server.admin.tenants.setRetention('default', { sessions: 1, approvals: 183 });
  for (const [agent, session] of [
    ['billing', 'held by its agent'],
    ['mailer', 'held by its id'],
    ['mailer', 'not held'],
  ] as const) {
    await busySession(server, agent, session);
  }
  const { legalHolds } = server.server.admin;
  const ofAgent = await legalHolds.create('default', { name: 'Case 1', agentId: 'billing' });
  await legalHolds.create('default', { name: 'Case 2', sessionId: 'held by its id' });

  await deleteExpiredData(storage, Date.now() + 400 * dayMs);
  expect(await left(storage)).toEqual({ 'held by its agent': everything, 'held by its id': everything });

  await legalHolds.release('default', ofAgent.id);
  await deleteExpiredData(storage, Date.now() + 400 * dayMs);
  expect(await left(storage)).toEqual({ 'held by its id': everything });
});

test('keeps the records and changes of a period, and the sessions that touch it', async () => {
  const { server, storage } = await twoProcesses();
  await server.policy({ effect: 'require_approval' });
  await server.server.admin.tenants.setRetention('default', { sessions: 1 });
  await busySession(server, 'billing', 's');
  const { legalHolds } = server.server.admin;
  const nowMs = Date.now();
  const at = (ms: number) => new Date(nowMs + ms).toISOString();
  const before = await legalHolds.create('default', { name: 'Before', until: at(-dayMs) });
  const during = await legalHolds.create('default', { name: 'During', since: at(-dayMs), until: at(dayMs) });
  await deleteExpiredData(storage, nowMs + 400 * dayMs);
  expect(await left(storage)).toEqual({ s: everything });
  expect(await auditEntries(server, '&action=policy.created')).toHaveLength(1);

  await legalHolds.release('default', during.id);
  await deleteExpiredData(storage, nowMs + 400 * dayMs);
  expect(await left(storage)).toEqual({});
  expect(await auditEntries(server, '&action=policy.created')).toHaveLength(0);
  await legalHolds.release('default', before.id);
});

test('refuses deletions by an operator, also an erasure, and names the hold', async () => {
  const { server, storage } = await twoProcesses();
  await server.policy({ effect: 'require_approval' });
  await busySession(server, 'billing', 's');
  const { legalHolds, sessions, tenants } = server.server.admin;
  const { id } = await legalHolds.create('default', { name: 'Case 4711', agentId: 'billing' });
  const isHeld = `is under the legal hold "Case 4711" (${id})`;
  await expect(sessions.delete('default', 's')).rejects.toThrow(isHeld);
  await expect(sessions.delete('default', 's', { erasure: 'Request 1' })).rejects.toThrow(isHeld);
  await expect(tenants.delete('default', { erasure: 'Request 1' })).rejects.toThrow(isHeld);
  expect(await left(storage)).toEqual({ s: everything });

  await legalHolds.release('default', id);
  await sessions.delete('default', 's', { erasure: 'Request 1' });
  expect(await left(storage)).toEqual({});
  await tenants.delete('default', { erasure: 'Request 2' });
});

test('passes pages of held rows, and does not read them again in the next run', async () => {
  const { server, storage } = await twoProcesses();
  await server.server.admin.tenants.setRetention('default', { sessions: 1 });
  for (let number = 0; number < 120; number += 1) {
    await server.record({ agentId: number < 110 ? 'held' : 'free', sessionId: `s${number}` });
  }
  const { legalHolds } = server.server.admin;
  const { id } = await legalHolds.create('default', { name: 'Case 1', agentId: 'held' });
  const count = () =>
    storage.read(1, async (db) => (await db.selectFrom('sessions').select('id').execute()).length);
  const writes = vi.spyOn(storage, 'write');
  await deleteExpiredData(storage, Date.now() + 2 * dayMs);
  expect(await count()).toBe(110);
  // More than one page of sessions, and the counts of activity.
  expect(writes.mock.calls.length).toBeGreaterThan(2);
  writes.mockClear();
  await deleteExpiredData(storage, Date.now() + 2 * dayMs);
  expect(await count()).toBe(110);
  // Nothing but the counts of activity is left to do.
  expect(writes).toHaveBeenCalledTimes(1);
  await legalHolds.release('default', id);
  await deleteExpiredData(storage, Date.now() + 2 * dayMs);
  expect(await count()).toBe(0);
});

test('loses nothing that a hold covers when it is placed while a cleanup runs', async () => {
  const { server, storage } = await twoProcesses();
  await server.server.admin.tenants.setRetention('default', { sessions: 1 });
  for (let number = 0; number < 150; number += 1) {
    await server.record({ agentId: 'billing', sessionId: `s${number}` });
  }
  const cleanups = [0, 1].map(() => deleteExpiredData(storage, Date.now() + 2 * dayMs));
  await server.server.admin.legalHolds.create('default', { name: 'Case 1', agentId: 'billing' });
  const ids = () =>
    storage.read(1, async (db) =>
      (await db.selectFrom('sessions').select('id').orderBy('id').execute()).map(({ id }) => id),
    );
  const atCreation = await ids();
  await Promise.all(cleanups);
  await deleteExpiredData(storage, Date.now() + 2 * dayMs);
  expect(await ids()).toEqual(atCreation);
});

test('places, lists and releases legal holds over HTTP, in the audit log, for callers with every scope', async () => {
  const { server } = await twoProcesses();
  const request = async (method: string, path: string, body?: object, apiKey = server.apiKey) => {
    const response = await fetch(`${server.server.url}/server/v1/legal-holds${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const placed = await request('POST', '', {
    name: 'Case 1',
    agentId: 'billing',
    since: '2026-01-01T00:00:00Z',
  });
  expect(placed).toMatchObject({
    status: 201,
    body: {
      name: 'Case 1',
      agentId: 'billing',
      sessionId: null,
      since: '2026-01-01T00:00:00.000Z',
      releasedAt: null,
    },
  });
  const id = placed.body.id as string;
  expect((await request('GET', '?active=true')).body.items).toMatchObject([{ id }]);
  expect((await request('POST', `/${id}/release`)).body.releasedAt).toEqual(expect.any(String));
  expect((await request('GET', '?active=true')).body.items).toEqual([]);
  expect(await auditEntries(server, '&targetKind=legal_hold')).toMatchObject([
    { action: 'legal_hold.released', target: { id, name: 'Case 1' } },
    { action: 'legal_hold.created', target: { id, name: 'Case 1' } },
  ]);
  expect((await request('POST', '', { name: '' })).status).toBe(400);
  const backwards = { name: 'x', since: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z' };
  expect((await request('POST', '', backwards)).status).toBe(400);
  const reader = await server.server.admin.keys.create('default', { name: 'reader', scopes: ['read'] });
  expect((await request('GET', '', undefined, reader.apiKey)).status).toBe(403);
  const ofOperator = await server.server.admin.legalHolds.create('default', { name: 'By the operator' });
  expect((await request('POST', `/${ofOperator.id}/release`)).status).toBe(403);
  expect((await request('POST', '/lgh_unknown/release')).status).toBe(404);
});
