import { expect, test, vi } from 'vitest';
import { afterNextRead, watchedStorages } from './storage-seam.ts';
import { checkBody, type TestServer, testServer } from './test-server.ts';

async function held(server: TestServer, approval?: { timeoutSeconds: number; onTimeout: 'allow' | 'deny' }) {
  await server.policy({
    effect: 'require_approval',
    message: 'A person decides',
    ...(approval && { approval }),
  });
  const answer = await server.check({ actionId: 'call-1' });
  expect(answer.decision).toBe('require_approval');
  return answer.pendingActionId as string;
}

function decide(server: TestServer, id: string, decision: 'approve' | 'deny', comment?: string) {
  return server.ok('guardian.pendingActions.decide', { id, body: { decision, ...(comment && { comment }) } });
}

test('a held action waits, is listed, and is allowed by an approval', async () => {
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
  const answer = await server.check({ actionId: 'call-1' });
  expect(answer).toMatchObject({
    decision: 'allow',
    decidedBy: decided.decision?.decidedBy,
    pendingActionId: id,
  });
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
  const approved = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
  expect(approved.items).toEqual([decided]);
});

test('a denial denies, and the service writes the decision into the session', async () => {
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

test('a policy that denies today outweighs the approval of yesterday', async () => {
  const server = await testServer();
  await decide(server, await held(server), 'approve');
  const deny = await server.policy({ effect: 'deny' });
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({ decision: 'deny', decidedBy: deny.id });
});

test('an older policy that lets run what nobody decided about is no way past one that does not', async () => {
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

test('an action that waits goes on waiting when its policy is archived', async () => {
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

test('the same decision again is answered the same; another is refused with the state', async () => {
  const server = await testServer();
  const id = await held(server);
  const first = await decide(server, id, 'approve');
  expect(await decide(server, id, 'approve')).toEqual(first);
  const error = await server.refused('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
  expect(error).toMatchObject({
    status: 409,
    code: 'ALREADY_DECIDED',
    details: [{ path: 'status', code: 'approved' }],
  });
});

test('of racing decisions exactly one wins, and all see the same end', async () => {
  const server = await testServer();
  const id = await held(server);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      server.send('guardian.pendingActions.decide', {
        id,
        body: { decision: index % 2 === 0 ? 'approve' : 'deny' },
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.filter((status) => status === 409)).toHaveLength(10);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events).toHaveLength(2);
});

test('a check that prefers to wait is answered by the decision', async () => {
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

test('a decision between the look at an action and the waiting for it is heard of', {
  timeout: 10_000,
}, async () => {
  const server = await testServer();
  const id = await held(server);
  afterNextRead(() => decide(server, id, 'approve'));
  const answer = await server.check({ actionId: 'call-1' }, { prefer: 'wait=25' });
  expect(answer).toMatchObject({ decision: 'allow', pendingActionId: id });
});

test('a check that waits leaves nothing behind, however it ends', async () => {
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

test('unnamed actions that are the same wait as one; named ones each wait for themselves', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const first = await server.check();
  expect((await server.check()).pendingActionId).toBe(first.pendingActionId);
  const named = await server.check({ actionId: 'a' });
  const other = await server.check({ actionId: 'b' });
  expect(new Set([first, named, other].map((answer) => answer.pendingActionId)).size).toBe(3);
  await decide(server, first.pendingActionId as string, 'approve');
  const next = await server.check();
  expect(next.decision).toBe('require_approval');
  expect(next.pendingActionId).not.toBe(first.pendingActionId);
});

test('an unnamed action that waits is counted and told to webhooks once, however often it is asked about', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const { id: channelId } = await server.ok('notificationChannels.create', {
    body: { url: 'http://127.0.0.1:1/', events: ['policy.matched'] },
  });
  const { id: policyId } = await server.policy({ effect: 'require_approval' });
  await server.policy({ rate: { max: 2, windowSeconds: 3600, per: 'agent' } });
  const answers = [await server.check(), await server.check(), await server.check(), await server.check()];
  expect(new Set(answers.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
  expect(answers.map(({ matched }) => matched)).toEqual(
    answers.map(() => [expect.objectContaining({ policyId })]),
  );
  expect(await server.server.admin.deliveries('default', channelId)).toHaveLength(1);
});

test('an agent whose key cannot decide does not approve itself', async () => {
  const server = await testServer();
  const id = await held(server);
  const agentKey = await server.server.admin.createKey('default', {
    name: 'agent',
    scopes: ['ingest', 'read'],
  });
  const error = await server
    .as(agentKey.apiKey)
    .refused('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
});
