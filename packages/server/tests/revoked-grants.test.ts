import type { ApprovalGrant, ApprovalGrantPage } from '@actlog/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readError, type TestServer, testServer } from './test-server.ts';

let server: TestServer;
let policyId: string;
beforeEach(async () => {
  server = await testServer();
  policyId = (await server.policy({ effect: 'require_approval' })).id;
});

afterEach(() => {
  vi.useRealTimers();
});

function request(method: string, path: string, as = server): Promise<Response> {
  return fetch(`${server.server.url}/server/v1/grants${path}`, {
    method,
    headers: { authorization: `Bearer ${as.apiKey}` },
  });
}

async function grants(query = ''): Promise<ApprovalGrantPage> {
  const response = await request('GET', query);
  expect(response.status).toBe(200);
  return (await response.json()) as ApprovalGrantPage;
}

/** Holds an action of a session and approves it with a grant. Returns the id of the grant. */
async function granted(sessionId: string, grant: object = { for: 'tool' }): Promise<string> {
  const { pendingActionId } = await server.check({ sessionId, actionId: `held-${Math.random()}` });
  const body = { decision: 'approve', grant };
  const action = await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body });
  return action.grantId as string;
}

test('lists grants, newest first, by session and by pages', async () => {
  const first = await granted('thread-1');
  const second = await granted('thread-2', { for: 'action', maxUses: 3, durationSeconds: 60 });
  const { items } = await grants();
  expect(items).toMatchObject([
    { id: second, sessionId: 'thread-2', for: 'action', maxUses: 3, uses: 0, status: 'active' },
    {
      id: first,
      status: 'active',
      agentId: 'billing-agent',
      toolName: 'refund',
      policies: [{ id: policyId, version: 1 }],
      maxUses: null,
      revokedAt: null,
    },
  ]);
  const seconds = (item: ApprovalGrant | undefined) =>
    (Date.parse(item?.expiresAt ?? '') - Date.parse(item?.createdAt ?? '')) / 1000;
  expect(items.map(seconds)).toEqual([60, 3600]);
  expect((await grants('?sessionId=thread-1')).items).toMatchObject([{ id: first }]);
  const page = await grants('?limit=1');
  expect((await grants(`?limit=1&cursor=${page.nextCursor}`)).items).toMatchObject([{ id: first }]);
});

test('revokes a grant, and records that in its session', async () => {
  const id = await granted('thread-1');
  expect((await server.check()).decision).toBe('allow');
  const response = await request('DELETE', `/${id}`);
  const revoked = (await response.json()) as ApprovalGrant;
  expect(revoked).toMatchObject({
    id,
    status: 'revoked',
    uses: 1,
    revokedBy: expect.stringMatching(/^key_/),
  });
  expect((await server.check()).decision).toBe('require_approval');
  expect(await (await request('DELETE', `/${id}`)).json()).toEqual(revoked);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  const last = events.map(({ payload }) => payload).filter((payload) => payload.decision === 'grant_revoked');
  expect(last).toEqual([
    { toolName: 'refund', decision: 'grant_revoked', grantId: id, decidedBy: revoked.revokedBy },
  ]);
  expect((await grants('?valid=true')).items).toEqual([]);
  expect((await grants('?valid=false')).items).toMatchObject([{ id }]);
});

test('shows why a grant no longer allows an action', async () => {
  await granted('thread-1', { for: 'tool', maxUses: 1 });
  await server.check();
  await granted('thread-2', { for: 'tool', durationSeconds: 60 });
  await granted('thread-3');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
  await server.ok('policies.update', { id: policyId, body: { priority: 5 } });
  const { items } = await grants();
  expect(items.map(({ status }) => status)).toEqual(['policy_changed', 'expired', 'used_up']);
});

test('returns 404 for an unknown grant, and 403 without the scope', async () => {
  expect(await readError(await request('DELETE', '/grt_1'))).toMatchObject({
    status: 404,
    code: 'NOT_FOUND',
  });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'r', scopes: ['read'] });
  const error = await readError(await request('DELETE', '/grt_1', server.as(apiKey)));
  expect(error).toMatchObject({ status: 403 });
});

test('deletes the grants of a deleted session', async () => {
  await granted('thread-1');
  await server.server.admin.sessions.delete(server.tenant, 'thread-1', { erasure: 'Request 1' });
  expect((await grants()).items).toEqual([]);
});
