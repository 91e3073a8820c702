import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts';
import { watchedStorages } from './storage-seam.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { checkBody, type TestServer, testServer } from './test-server.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Starts a waiting check, and exposes its decision as soon as there is one. */
async function waiting(server: TestServer) {
  const watched = watchedStorages();
  const check: { decision?: string } = {};
  void server.check({ actionId: 'call-1' }, { prefer: 'wait=25' }).then((response) => {
    check.decision = response.decision;
  });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  return { check, storage: watched[0] };
}

test('responds to a waiting check with a policy that denies meanwhile', async () => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval' });
  const { check } = await waiting(server);
  const deny = await server.policy({ effect: 'deny' });
  // Each attempt advances the clock.
  await vi.waitFor(() => expect(check.decision).toBe('deny'));
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({ decision: 'deny', policyId: deny.id });
});

test('responds to a waiting check at once when the agent is revoked', async () => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval' });
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'Billing' } });
  const { check } = await waiting(server);
  await server.ok('agents.update', { id: 'billing-agent', body: { status: 'revoked' } });
  // Each attempt advances the clock.
  await vi.waitFor(() => expect(check.decision).toBe('deny'));
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({ decision: 'deny', policyId: 'agent_revoked' });
});

test('does not show a decision to a key that was revoked while its check waited', async () => {
  const server = await testServer({});
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval' });
  const { apiKey, key } = await admin.keys.create(server.tenant, { name: 'agent' });
  const { pendingActionId } = await server.as(apiKey).check({ actionId: 'call-1' });
  const watched = watchedStorages();
  const body = checkBody({ actionId: 'call-1' });
  const refused = server.as(apiKey).refused('policies.check', { body, headers: { prefer: 'wait=25' } });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  await admin.keys.revoke(server.tenant, key.id);
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  expect((await refused).code).toBe('AUTHENTICATION_FAILED');
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
});

test.skipIf(onPostgres)('wakes a waiting check for decisions of others, not for every event', async () => {
  const database = join(tmpdir(), `actlog-${randomUUID()}.db`);
  atTestEnd(async () => {
    for (const end of ['', '-wal', '-shm', '.secret']) rmSync(`${database}${end}`, { force: true });
  });
  // The log reads after each event.
  const one = await testServer({ database, keepLog: false });
  const two = await testServer({ database, keepLog: false });
  await one.policy({ effect: 'require_approval' });
  const { pendingActionId } = await one.check({ actionId: 'call-1' });
  const { check, storage } = await waiting(one);
  const reads = vi.spyOn(SqliteStorage.prototype, 'read');
  atTestEnd(async () => reads.mockRestore());
  for (let event = 0; event < 20; event += 1) {
    await one.record({ sessionId: 'another' });
    await vi.advanceTimersByTimeAsync(200);
  }
  // The first read may still have been in progress.
  expect(reads.mock.contexts.filter((each) => each === storage).length).toBeLessThan(3);
  await two.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  await vi.waitFor(() => expect(check.decision).toBe('allow'));
});
