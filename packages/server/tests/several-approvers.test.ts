import { beforeEach, expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});

/** Returns the server with a new key that may decide, and the id of the key. */
async function approver(name: string): Promise<TestServer & { keyId: string }> {
  const { apiKey, key } = await server.server.admin.keys.create(server.tenant, {
    name,
    scopes: ['decide', 'read'],
  });
  return Object.assign(server.as(apiKey), { keyId: `key_${key.id}` });
}

async function hold(fields: object = {}): Promise<string> {
  return (await server.check({ actionId: 'call-1', ...fields })).pendingActionId as string;
}

function decide(as: TestServer, id: string, decision: 'approve' | 'deny' = 'approve', fields: object = {}) {
  return as.ok('guardian.pendingActions.decide', { id, body: { decision, ...fields } });
}

async function events() {
  const { events: all } = await server.ok('sessions.get', { id: 'thread-1' });
  return all.map(({ payload }) => payload);
}

test('keeps an action pending until enough approvers have approved', async () => {
  await server.policy({ effect: 'require_approval', approval });
  const [ada, grace] = [await approver('ada'), await approver('grace')];
  const id = await hold();
  const first = await decide(ada, id, 'approve', { comment: 'Fine by me.' });
  expect(first).toMatchObject({
    status: 'pending',
    decision: null,
    approvals: {
      required: 2,
      given: [{ approvedBy: ada.keyId, principal: null, comment: 'Fine by me.', grant: null }],
    },
  });
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('require_approval');
  // The same approver counts once.
  expect(await decide(ada, id)).toEqual(first);
  expect(await decide(grace, id)).toMatchObject({
    status: 'approved',
    decision: { decision: 'approve', decidedBy: grace.keyId },
    approvals: { given: [{ approvedBy: ada.keyId }, { approvedBy: grace.keyId }] },
  });
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({
    decision: 'allow',
    decidedBy: grace.keyId,
  });
  expect((await events()).slice(1)).toMatchObject([
    { decision: 'partially_approved', requiredApprovers: 2, approvedBy: [ada.keyId], decidedBy: ada.keyId },
    { decision: 'approved', requiredApprovers: 2, approvedBy: [ada.keyId, grace.keyId] },
  ]);
});

test('denies an action with one denial', async () => {
  await server.policy({ effect: 'require_approval', approval });
  const [ada, grace] = [await approver('ada'), await approver('grace')];
  const id = await hold();
  await decide(ada, id);
  expect(await decide(grace, id, 'deny')).toMatchObject({
    status: 'denied',
    approvals: { given: [{ approvedBy: ada.keyId }] },
  });
  const error = await ada.refused('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(error).toMatchObject({ status: 409, code: 'ALREADY_DECIDED' });
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('deny');
});

test('fixes the rules of an approval when the action is held', async () => {
  const policy = await server.policy({ effect: 'require_approval', approval });
  const id = await hold();
  await server.ok('policies.update', { id: policy.id, body: { approval: { requiredApprovers: 1 } } });
  expect((await decide(server, id)).status).toBe('pending');
});

test('lets only the listed keys approve, and every key deny', async () => {
  const [ada, grace] = [await approver('ada'), await approver('grace')];
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', approverKeys: [ada.keyId] } as const;
  await server.policy({ effect: 'require_approval', approval: rules });
  const id = await hold();
  const body = { decision: 'approve' };
  const error = await grace.refused('guardian.pendingActions.decide', { id, body });
  expect(error).toMatchObject({
    status: 403,
    code: 'PERMISSION_DENIED',
    details: [{ code: 'approver_keys' }],
  });
  expect((await decide(ada, id)).status).toBe('approved');
  const other = await hold({ actionId: 'call-2' });
  expect((await decide(grace, other, 'deny')).status).toBe('denied');
});

test('does not let the key of the check approve if the policy says so', async () => {
  const ada = await approver('ada');
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', notRequester: true } as const;
  await server.policy({ effect: 'require_approval', approval: rules });
  const id = await hold();
  const error = await server.refused('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(error).toMatchObject({ status: 403, details: [{ path: 'decision', code: 'requester' }] });
  expect((await decide(ada, id)).status).toBe('approved');
});

test('holds equal unnamed actions of two keys separately if the requester cannot approve', async () => {
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', notRequester: true } as const;
  await server.policy({ effect: 'require_approval', approval: rules });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
  });
  const first = await server.check();
  const second = await server.as(apiKey).check();
  expect(second.pendingActionId).not.toBe(first.pendingActionId);
  expect((await server.check()).pendingActionId).toBe(first.pendingActionId);
});

test('requires more keys than approvers when a policy is written', async () => {
  const rules = { ...approval, approverKeys: ['key_a', 'key_a'] };
  const body = { name: 'p', effect: 'require_approval', approval: rules };
  const error = await server.refused('policies.create', { body });
  expect(error).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: 'approval.requiredApprovers', code: 'contradiction' }],
  });
  expect(error.message).toContain('approverKeys has 1 different key');
  const policy = await server.policy({
    effect: 'require_approval',
    approval: { ...approval, approverKeys: ['key_a', 'key_b'] },
  });
  const id = policy.id;
  const removed = await server.ok('policies.update', { id, body: { approval: { approverKeys: null } } });
  expect(removed.approval).toEqual(approval);
});

test('expires an action that has too few approvals', async () => {
  const rules = { ...approval, timeoutSeconds: 1 };
  await server.policy({ effect: 'require_approval', approval: rules });
  const id = await hold();
  expect((await decide(server, id)).status).toBe('pending');
  const { decision } = await server.check({ actionId: 'call-1' }, { prefer: 'wait=5' });
  expect(decision).toBe('deny');
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'expired' } });
  expect(items).toMatchObject([{ id, approvals: { given: [{ comment: null }] }, decision: null }]);
});
