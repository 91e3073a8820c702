import { expect, test, vi } from 'vitest';
import { afterNextRead, watchedStorages } from './storage-seam.ts';
import { checkBody, type TestServer, testServer } from './test-server.ts';

async function held(server: TestServer, approval?: { timeoutSeconds: number; onTimeout: 'allow' | 'deny' }) {
  await server.policy({
    effect: 'require_approval',
    message: 'A person decides',
    ...(approval && { approval }),
  });
  const response = await server.check({ actionId: 'call-1' });
  expect(response.decision).toBe('require_approval');
  return response.pendingActionId as string;
}

function decide(server: TestServer, id: string, decision: 'approve' | 'deny', comment?: string) {
  return server.ok('guardian.pendingActions.decide', { id, body: { decision, ...(comment && { comment }) } });
}

test('holds an action, lists it, and allows it after an approval', async () => {
  const server = await testServer();
  const id = await held(server);
  const { items } = await server.ok('guardian.pendingActions.list');
  expect(items).toMatchObject([
    {
      id,
      status: 'pending',
      agentId: 'billing-agent',
      sessionId: 'thread-1',
      action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
      reason: 'A person decides',
      onTimeout: 'deny',
      decision: null,
    },
  ]);
  const decided = await decide(server, id, 'approve', 'fine');
  expect(decided).toMatchObject({ status: 'approved', decision: { decision: 'approve', comment: 'fine' } });
  const response = await server.check({ actionId: 'call-1' });
  expect(response).toMatchObject({
    decision: 'allow',
    decidedBy: decided.decision?.decidedBy,
    pendingActionId: id,
  });
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
  const approved = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
  expect(approved.items).toEqual([decided]);
});

test('denies an action after a denial, and records the decision in its session', async () => {
  const server = await testServer();
  const id = await held(server);
  await decide(server, id, 'deny', 'Not without a backup');
  const denied = await server.check({ actionId: 'call-1' });
  expect(denied).toMatchObject({ decision: 'deny', comment: 'Not without a backup' });
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toMatchObject([
    { category: 'guardian_decision', payload: { decision: 'require_approval', toolName: 'refund' } },
    {
      category: 'guardian_decision',
      agentId: 'billing-agent',
      payload: { pendingActionId: id, toolName: 'refund', decision: 'denied' },
    },
  ]);
});

test('lets a policy that denies now take precedence over an earlier approval', async () => {
  const server = await testServer();
  await decide(server, await held(server), 'approve');
  const deny = await server.policy({ effect: 'deny' });
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({ decision: 'deny', decidedBy: deny.id });
});

test('ranks a policy with onTimeout deny before an older one with onTimeout allow', async () => {
  const server = await testServer();
  await server.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 1, onTimeout: 'allow' },
  });
  const strict = await server.policy({ effect: 'require_approval' });
  expect(await server.check()).toMatchObject({ decision: 'require_approval', decidedBy: strict.id });
  const { items } = await server.ok('guardian.pendingActions.list');
  expect(items).toMatchObject([{ policyId: strict.id, onTimeout: 'deny' }]);
});

test('keeps an action held when its policy is archived', async () => {
  const server = await testServer();
  const id = await held(server);
  const { items } = await server.ok('policies.list');
  await server.ok('policies.archive', { id: items[0]?.id as string });
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({
    decision: 'require_approval',
    matched: [],
    pendingActionId: id,
  });
  await decide(server, id, 'approve');
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
});

test('accepts the same decision again, and refuses another one with the status', async () => {
  const server = await testServer();
  const id = await held(server);
  const first = await decide(server, id, 'approve');
  expect(await decide(server, id, 'approve')).toEqual(first);
  const error = await server.refused('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
  expect(error).toMatchObject({
    status: 409,
    code: 'ALREADY_DECIDED',
    details: [
      { path: 'status', code: 'approved' },
      { path: 'decision.decidedBy', code: first.decision?.decidedBy },
    ],
  });
});

test('accepts exactly one of racing decisions, and shows all callers the same result', async () => {
  const server = await testServer();
  const id = await held(server);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      server.send('guardian.pendingActions.decide', {
        id,
        body: { decision: index % 2 === 0 ? 'approve' : 'deny' },
      }),
    ),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.filter((status) => status === 409)).toHaveLength(10);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toHaveLength(2);
});

test('responds to a waiting check with the decision', async () => {
  const server = await testServer();
  const id = await held(server);
  const waiting = server.send('policies.check', {
    body: {
      agentId: 'billing-agent',
      sessionId: 'thread-1',
      action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
      actionId: 'call-1',
    },
    headers: { prefer: 'respond-async, wait=20' },
  });
  await decide(server, id, 'approve');
  const response = await waiting;
  expect(response.headers.get('preference-applied')).toBe('wait=20');
  expect(await response.json()).toMatchObject({ decision: 'allow', pendingActionId: id });
});

test('does not miss a decision between reading an action and waiting for it', {
  timeout: 10_000,
}, async () => {
  const server = await testServer();
  const id = await held(server);
  afterNextRead(() => decide(server, id, 'approve'));
  const response = await server.check({ actionId: 'call-1' }, { prefer: 'wait=25' });
  expect(response).toMatchObject({ decision: 'allow', pendingActionId: id });
});

test('leaves nothing behind after a waiting check, however it ends', async () => {
  const server = await testServer();
  const watched = watchedStorages();
  const id = await held(server);
  const over = await server.check({ actionId: 'call-1' }, { prefer: 'wait=1' });
  expect(over.decision).toBe('require_approval');
  expect(watched).toHaveLength(0);

  const caller = new AbortController();
  const left = fetch(`${server.server.url}/v1/policies/check`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      prefer: 'wait=25',
    },
    body: JSON.stringify(checkBody({ actionId: 'call-1' })),
    signal: caller.signal,
  });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  caller.abort();
  await expect(left).rejects.toThrow();
  await vi.waitFor(() => expect(watched).toHaveLength(0));

  afterNextRead(async () => {
    afterNextRead(() => Promise.reject(new Error('The look failed.')));
  });
  const failed = await server.send('policies.check', {
    body: checkBody({ actionId: 'call-1' }),
    headers: { prefer: 'wait=25' },
  });
  expect(failed.status).toBe(500);
  expect(watched).toHaveLength(0);

  const waiting = server.check({ actionId: 'call-1' }, { prefer: 'wait=25' });
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  await decide(server, id, 'deny');
  expect((await waiting).decision).toBe('deny');
  expect(watched).toHaveLength(0);
});

test('holds equal unnamed actions as one, and each named action separately', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const first = await server.check();
  expect((await server.check()).pendingActionId).toBe(first.pendingActionId);
  const named = await server.check({ actionId: 'a' });
  const other = await server.check({ actionId: 'b' });
  expect(new Set([first, named, other].map((response) => response.pendingActionId)).size).toBe(3);
  await decide(server, first.pendingActionId as string, 'approve');
  const next = await server.check();
  expect(next.decision).toBe('require_approval');
  expect(next.pendingActionId).not.toBe(first.pendingActionId);
});

test('counts and announces an unnamed held action once, however often it is checked', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { id: channelId } = await server.ok('notificationChannels.create', {
    body: { url: 'http://127.0.0.1:1/', events: ['policy.matched'] },
  });
  const { id: policyId } = await server.policy({ effect: 'require_approval' });
  await server.policy({ rate: { max: 2, windowSeconds: 3600, per: 'agent' } });
  const responses = [await server.check(), await server.check(), await server.check(), await server.check()];
  expect(new Set(responses.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
  expect(responses.map(({ matched }) => matched)).toEqual(
    responses.map(() => [expect.objectContaining({ policyId })]),
  );
  expect(await server.server.admin.webhooks.deliveries(server.tenant, channelId)).toHaveLength(1);
});

test('does not let an agent approve itself without the scope to decide', async () => {
  const server = await testServer();
  const id = await held(server);
  const agentKey = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest', 'read'],
  });
  const error = await server
    .as(agentKey.apiKey)
    .refused('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
});
