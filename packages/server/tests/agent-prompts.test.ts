import { beforeEach, expect, test } from 'vitest';
import { route } from './channels/channel-tools.ts';
import { type TestServer, testServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});

const ask = (holdSeconds: number, fields: object = {}) =>
  server.check({ actionId: 'call-1', holdSeconds, ...fields });

async function held() {
  const { items } = await server.ok('guardian.pendingActions.list', {});
  return items[0];
}

test('holds an action that its caller wants a person to decide, without a policy', async () => {
  const first = await ask(60);
  expect(first).toMatchObject({ decision: 'require_approval', decidedBy: 'agent_prompt' });
  const id = first.pendingActionId as string;
  expect(await held()).toMatchObject({ id, policyId: 'agent_prompt', onTimeout: 'deny', editable: [] });
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(await ask(60)).toMatchObject({ decision: 'allow', pendingActionId: id });
});

test('holds it for as long as the caller checks it', async () => {
  await ask(60);
  const before = await held();
  await ask(600);
  const after = await held();
  expect(after?.id).toBe(before?.id);
  expect(Date.parse(after?.expiresAt as string)).toBeGreaterThan(Date.parse(before?.expiresAt as string));
  await ask(60);
  expect(await held()).toEqual(after);
});

test('lets a policy that denies take precedence', async () => {
  const { pendingActionId } = await ask(60);
  await server.policy({ effect: 'deny', message: 'No.' });
  expect(await ask(60)).toMatchObject({ decision: 'deny', pendingActionId });
});

test('satisfies the policies that hold the action, too', async () => {
  const editable = [{ path: 'amount', max: 5 }];
  const approval = { timeoutSeconds: 900, onTimeout: 'allow', requiredApprovers: 2, editable } as const;
  await server.policy({ effect: 'require_approval', approval });
  await ask(60);
  expect(await held()).toMatchObject({
    policyId: 'agent_prompt',
    onTimeout: 'deny',
    approvals: { required: 2 },
    editable,
  });
});

test('is withdrawn when the prompt was answered where the agent runs', async () => {
  const { pendingActionId: id } = await ask(60);
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
  });
  const agent = server.as(apiKey);
  const withdrawn = await route(agent, 'POST', `/pending-actions/${id}/withdraw`);
  expect(withdrawn).toMatchObject({ status: 200, body: { id, status: 'withdrawn', decision: null } });
  expect(await route(agent, 'POST', `/pending-actions/${id}/withdraw`)).toEqual(withdrawn);
  expect(await held()).toBeUndefined();
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'withdrawn' } });
  expect(items).toMatchObject([{ id }]);
  const late = await server.refused('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'approve' },
  });
  expect(late).toMatchObject({ status: 409, code: 'ALREADY_DECIDED' });
  // To the agent it looks like a hold that nobody decided about, so that the prompt stays with its user.
  expect(await ask(60)).toMatchObject({ decision: 'deny', decidedBy: 'agent_prompt', pendingActionId: id });
  expect((await ask(60, { actionId: 'call-2' })).pendingActionId).not.toBe(id);
  const { body: audit } = await route(server, 'GET', '/audit');
  expect(audit.items.filter(({ action }: { action: string }) => action.startsWith('held'))).toMatchObject([
    { action: 'held_action.withdrawn', target: { id }, changes: [{ before: 'pending', after: 'withdrawn' }] },
  ]);
  const { body: decisions } = await route(server, 'GET', '/decisions?held=true');
  expect(decisions.items).toContainEqual(
    expect.objectContaining({ pendingActionId: id, heldStatus: 'withdrawn', decision: 'deny' }),
  );
});

test('ends a check that waits for it', async () => {
  const { pendingActionId } = await ask(60);
  const waiting = server.check({ actionId: 'call-1', holdSeconds: 60 }, { prefer: 'wait=60' });
  await route(server, 'POST', `/pending-actions/${pendingActionId}/withdraw`);
  expect(await waiting).toMatchObject({ decision: 'deny', pendingActionId });
});

test('refuses to withdraw the action of a policy, of another agent, or with a key that cannot check', async () => {
  const { pendingActionId: prompted } = await ask(60);
  const { keys } = server.server.admin;
  const other = await keys.create(server.tenant, { name: 'agent', scopes: ['ingest'], agents: ['support'] });
  const reader = await keys.create(server.tenant, { name: 'agent', scopes: ['read', 'decide'] });
  for (const { apiKey } of [other, reader]) {
    const refused = await route(server.as(apiKey), 'POST', `/pending-actions/${prompted}/withdraw`);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'PERMISSION_DENIED' } } });
  }
  const approval = { timeoutSeconds: 900, onTimeout: 'allow' } as const;
  await server.policy({ effect: 'require_approval', approval });
  const { pendingActionId: held } = await server.check({ actionId: 'call-2', sessionId: 'other' });
  expect(await route(server, 'POST', `/pending-actions/${held}/withdraw`)).toMatchObject({ status: 403 });
  expect(await route(server, 'POST', '/pending-actions/pac_none/withdraw')).toMatchObject({ status: 404 });
  const { items } = await server.ok('guardian.pendingActions.list', {});
  expect(items.map(({ id }) => id).sort()).toEqual([prompted, held].sort());
});

test('leaves an action that has ended as it is', async () => {
  const { pendingActionId: id } = await ask(60);
  await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect(await route(server, 'POST', `/pending-actions/${id}/withdraw`)).toMatchObject({
    status: 200,
    body: { status: 'approved' },
  });
  expect(await ask(60)).toMatchObject({ decision: 'allow' });
});
