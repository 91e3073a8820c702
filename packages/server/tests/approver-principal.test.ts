import { beforeEach, expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await testServer({ principalHeader: 'X-Forwarded-User', trustedProxies: ['127.0.0.0/8'] });
});

async function keyOf(name: string): Promise<TestServer> {
  const { apiKey } = await server.server.admin.keys.create(server.tenant, { name, scopes: ['decide'] });
  return server.as(apiKey);
}

/** Holds an action of Ada's agent. */
async function hold(): Promise<string> {
  const { pendingActionId } = await server.check({ actionId: `call-${Math.random()}`, principal: 'ada' });
  return pendingActionId as string;
}

function approve(as: TestServer, id: string, principal?: string) {
  const headers: Record<string, string> = principal === undefined ? {} : { 'x-forwarded-user': principal };
  return as.send('guardian.pendingActions.decide', { id, body: { decision: 'approve' }, headers });
}

test('shows the principal of the check to the approver, and the approver', async () => {
  await server.policy({ effect: 'require_approval' });
  const id = await hold();
  const { items } = await server.ok('guardian.pendingActions.list');
  expect(items).toMatchObject([{ id, principal: 'ada', requestedBy: expect.stringMatching(/^key_/) }]);
  const response = await approve(await keyOf('shared'), id, 'grace');
  expect(await response.json()).toMatchObject({ approvals: { given: [{ principal: 'grace' }] } });
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events[1]?.payload).toMatchObject({ decision: 'approved', principal: 'grace' });
});

test('counts a person with two keys once', async () => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;
  await server.policy({ effect: 'require_approval', approval });
  const id = await hold();
  const [one, two] = [await keyOf('one'), await keyOf('two')];
  for (const as of [one, two]) {
    expect(await (await approve(as, id, 'grace')).json()).toMatchObject({ status: 'pending' });
  }
  expect(await (await approve(two, id, 'alan')).json()).toMatchObject({ status: 'approved' });
});

test('does not let the principal of the check approve with another key', async () => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', notRequester: true } as const;
  await server.policy({ effect: 'require_approval', approval });
  const id = await hold();
  const as = await keyOf('second');
  expect(await (await approve(as, id, 'ada')).json()).toMatchObject({
    error: { code: 'PERMISSION_DENIED', details: [{ code: 'requester' }] },
  });
  expect(await (await approve(as, id)).json()).toMatchObject({
    error: { details: [{ code: 'unknown_approver' }] },
  });
  expect((await approve(as, id, 'grace')).status).toBe(200);
});

test('ignores the header without the setting', async () => {
  const plain = await testServer();
  await plain.policy({ effect: 'require_approval' });
  const id = (await plain.check()).pendingActionId as string;
  expect(await (await approve(plain, id, 'grace')).json()).toMatchObject({
    approvals: { given: [{ principal: null }] },
  });
});

test('refuses a name that is too long', async () => {
  await server.policy({ effect: 'require_approval' });
  const response = await approve(server, await hold(), 'a'.repeat(201));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { details: [{ path: 'headers.x-forwarded-user' }] } });
});

test('treats another principal under the same actionId as another action', async () => {
  await server.policy({ effect: 'require_approval' });
  await server.check({ actionId: 'call-1', principal: 'ada' });
  const error = await server.refused('policies.check', {
    body: {
      agentId: 'billing-agent',
      sessionId: 'thread-1',
      action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
      actionId: 'call-1',
      principal: 'grace',
    },
  });
  expect(error.code).toBe('ACTION_MISMATCH');
});

/** Names of one person, as a proxy sends them: bytes of UTF-8, which `fetch` takes as characters. */
const sameNames = ['José', 'jose\u0301', ' JOSÉ ', 'Jos\u200bé'];

test.each(sameNames)('does not let %j approve an action of José', async (name) => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', notRequester: true } as const;
  await server.policy({ effect: 'require_approval', approval });
  const { pendingActionId } = await server.check({ actionId: 'call-1', principal: 'José' });
  const bytes = Buffer.from(name).toString('latin1');
  const response = await approve(await keyOf('second'), pendingActionId as string, bytes);
  expect(await response.json()).toMatchObject({ error: { details: [{ code: 'requester' }] } });
});

test('counts a person once, however the name is written, and shows it as it was sent', async () => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;
  await server.policy({ effect: 'require_approval', approval });
  const id = await hold();
  for (const [index, name] of sameNames.entries()) {
    const bytes = Buffer.from(name).toString('latin1');
    expect(await (await approve(await keyOf(`key ${index}`), id, bytes)).json()).toMatchObject({
      status: 'pending',
      approvals: { given: [{ principal: 'José' }] },
    });
  }
  expect(await (await approve(await keyOf('other'), id, 'Josef')).json()).toMatchObject({
    status: 'approved',
  });
});
