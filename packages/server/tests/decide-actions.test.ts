import type { ActionDecisionResults } from '@actlog/protocol';
import { beforeEach, expect, test } from 'vitest';
import { readError, type TestServer, testServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});

function send(decisions: unknown, as = server): Promise<Response> {
  return fetch(`${server.server.url}/server/v1/pending-actions/decide`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ decisions }),
  });
}

async function decide(decisions: unknown): Promise<ActionDecisionResults['results']> {
  const response = await send(decisions);
  expect(response.status).toBe(200);
  return ((await response.json()) as ActionDecisionResults).results;
}

async function hold(actionId: string): Promise<string> {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { secret: 'of the customer' } };
  return (await server.check({ actionId, sessionId: actionId, action })).pendingActionId as string;
}

test('decides several actions, each with its own result', async () => {
  await server.policy({ effect: 'require_approval' });
  const [first, second, third] = [await hold('a'), await hold('b'), await hold('c')];
  await server.ok('guardian.pendingActions.decide', { id: third, body: { decision: 'deny' } });
  const results = await decide([
    { id: first, decision: 'approve' },
    { id: 'pac_unknown', decision: 'approve' },
    { id: second, decision: 'deny', comment: 'Ask first.' },
    { id: third, decision: 'approve' },
  ]);
  expect(results).toMatchObject([
    { id: first, action: { status: 'approved' }, error: null },
    { id: 'pac_unknown', action: null, error: { code: 'NOT_FOUND' } },
    { id: second, action: { status: 'denied', decision: { comment: 'Ask first.' } }, error: null },
    {
      id: third,
      action: null,
      error: { code: 'ALREADY_DECIDED', details: [{ code: 'denied' }, { path: 'decision.decidedBy' }] },
    },
  ]);
  // The approver has seen them, and they can be large.
  expect(JSON.stringify(results)).not.toContain('of the customer');
  const check = (actionId: string) =>
    server.check({
      actionId,
      sessionId: actionId,
      action: { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { secret: 'of the customer' } },
    });
  expect((await check('a')).decision).toBe('allow');
  expect((await check('b')).decision).toBe('deny');
  expect((await server.ok('sessions.get', { id: 'a' })).events).toHaveLength(2);
});

test('shows an action that needs further approvers as pending', async () => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;
  await server.policy({ effect: 'require_approval', approval });
  const ids = [await hold('a'), await hold('b')];
  const decisions = ids.map((id) => ({ id, decision: 'approve' }));
  expect(await decide(decisions)).toMatchObject(ids.map((id) => ({ id, action: { status: 'pending' } })));
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'ada',
    scopes: ['decide'],
  });
  const response = await send(decisions, server.as(apiKey));
  expect(((await response.json()) as ActionDecisionResults).results).toMatchObject(
    ids.map((id) => ({ id, action: { status: 'approved' } })),
  );
});

test.each([
  ['no decision', [], 'decisions'],
  ['an action twice', ['a', 'a'].map((id) => ({ id, decision: 'approve' })), 'decisions'],
  [
    'more than 100 decisions',
    Array.from({ length: 101 }, (_, at) => ({ id: `pac_${at}`, decision: 'deny' })),
    'decisions',
  ],
  ['an unknown field', [{ id: 'a', decision: 'approve', reason: 'none' }], 'decisions.0.reason'],
])('refuses %s before anything is decided', async (_, decisions, path) => {
  const error = await readError(await send(decisions));
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ path }] });
});

test('needs the scope decide', async () => {
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'r',
    scopes: ['read', 'manage'],
  });
  const error = await readError(await send([{ id: 'a', decision: 'approve' }], server.as(apiKey)));
  expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
});
