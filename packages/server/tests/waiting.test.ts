import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SqliteStorage } from '../src/storage/sqlite-storage.ts';
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

/** Starts a check that waits, and tells what it was answered as soon as it is. */
async function waiting(server: TestServer) {
  const watched = watchedStorages();
  const check: { decision?: string } = {};
  void server.check({ actionId: 'call-1' }, { prefer: 'wait=25' }).then((answer) => {
    check.decision = answer.decision;
  });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  return { check, storage: watched[0] };
}

test('a policy that denies reaches who waits for a person', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { check } = await waiting(server);
  const deny = await server.policy({ effect: 'deny' });
  // Every look at this moves the clock on.
  await vi.waitFor(() => expect(check.decision).toBe('deny'));
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({ decision: 'deny', policyId: deny.id });
});

test('who waits for a person is told at once that the agent is revoked', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'Billing' } });
  const { check } = await waiting(server);
  await server.ok('agents.update', { id: 'billing-agent', body: { status: 'revoked' } });
  // Every look at this moves the clock on.
  await vi.waitFor(() => expect(check.decision).toBe('deny'));
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({ decision: 'deny', policyId: 'agent_revoked' });
});

test('a key that is revoked while its check waits is told no decision', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval' });
  const { apiKey, key } = await admin.createKey('default', { name: 'agent' });
  const { pendingActionId } = await server.as(apiKey).check({ actionId: 'call-1' });
  const watched = watchedStorages();
  const body = checkBody({ actionId: 'call-1' });
  const refused = server.as(apiKey).refused('policies.check', { body, headers: { prefer: 'wait=25' } });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  await admin.revokeKey('default', key.id);
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  expect((await refused).code).toBe('AUTHENTICATION_FAILED');
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
});

test.skipIf(onPostgres)('who waits looks again for what others decide, not for every event', async () => {
  const database = join(tmpdir(), `actlog-${randomUUID()}.db`);
  atTestEnd(async () => {
    for (const end of ['', '-wal', '-shm', '.secret']) rmSync(`${database}${end}`, { force: true });
  });
  const one = await testServer({ database });
  const two = await testServer({ database });
  await one.policy({ effect: 'require_approval' });
  const { pendingActionId } = await one.check({ actionId: 'call-1' });
  const { check, storage } = await waiting(one);
  const reads = vi.spyOn(SqliteStorage.prototype, 'read');
  atTestEnd(async () => reads.mockRestore());
  for (let event = 0; event < 20; event += 1) {
    await one.record({ sessionId: 'another' });
    await vi.advanceTimersByTimeAsync(200);
  }
  // The first look may still have been under way.
  expect(reads.mock.contexts.filter((each) => each === storage).length).toBeLessThan(3);
  await two.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve' },
  });
  await vi.waitFor(() => expect(check.decision).toBe('allow'));
});
