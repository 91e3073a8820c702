import { beforeEach, expect, test } from 'vitest';
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
