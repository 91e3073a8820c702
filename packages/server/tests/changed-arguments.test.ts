import { beforeEach, expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

const approval = {
  timeoutSeconds: 900,
  onTimeout: 'deny',
  editable: [{ path: 'amount', max: 500 }],
} as const;
const action = {
  toolName: 'refund',
  argumentsHash: 'sha256:requested',
  arguments: { amount: 900, to: 'ada' },
  acceptsChanges: true,
};
const changed = {
  toolName: 'refund',
  argumentsHash: 'sha256:changed',
  arguments: { amount: 400, to: 'ada' },
  changedFrom: 'sha256:requested',
  acceptsChanges: true,
};

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});

async function hold(fields: object = {}, policy: object = {}): Promise<string> {
  await server.policy({ effect: 'require_approval', approval: { ...approval, ...policy } });
  return (await server.check({ actionId: 'call-1', action: { ...action, ...fields } }))
    .pendingActionId as string;
}

function approve(id: string, changedArguments?: object, fields: object = {}, as = server) {
  const changes = changedArguments && { changedArguments };
  return as.ok('guardian.pendingActions.decide', {
    id,
    body: { decision: 'approve', ...changes, ...fields },
  });
}

function refusal(id: string, body: object, as = server) {
  return as.refused('guardian.pendingActions.decide', { id, body: { decision: 'approve', ...body } });
}

const check = (fields: object = {}) => server.check({ actionId: 'call-1', action: { ...action, ...fields } });
const checkChanged = (fields: object = {}) =>
  server.check({ actionId: 'call-1', action: { ...changed, ...fields } });

async function decisions() {
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  return events.map(({ payload }) => payload);
}

async function approver(name: string) {
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name,
    scopes: ['decide', 'read'],
  });
  return server.as(apiKey);
}

test('lets an approver change arguments, and never allows the requested ones after that', async () => {
  const id = await hold();
  expect(await approve(id, { amount: 400 })).toMatchObject({
    status: 'approved',
    editable: approval.editable,
    changedArguments: { amount: 400 },
    executedHash: null,
  });
  const requested = await check();
  expect(requested).toMatchObject({
    decision: 'deny',
    pendingActionId: id,
    changedArguments: { amount: 400 },
  });
  expect(await check({ acceptsChanges: undefined })).toMatchObject({ decision: 'deny' });
  expect(await checkChanged()).toMatchObject({
    decision: 'allow',
    pendingActionId: id,
    changedArguments: null,
  });
  // A repeat, because the first response may have been lost.
  expect(await checkChanged()).toMatchObject({ decision: 'allow' });
  expect(await check()).toMatchObject({ decision: 'deny' });
});

test('records both hashes, and who changed which arguments', async () => {
  const id = await hold();
  const { decision } = await approve(id, { amount: 400 });
  await check();
  await checkChanged();
  await checkChanged();
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
  expect(items).toMatchObject([
    { executedHash: 'sha256:changed', action: { argumentsHash: 'sha256:requested' } },
  ]);
  const [requested, approved, ran, ...others] = await decisions();
  expect(others).toEqual([]);
  expect(requested).toMatchObject({ decision: 'require_approval', argumentsHash: 'sha256:requested' });
  expect(approved).toMatchObject({ decision: 'approved', changedPaths: ['amount'] });
  expect(ran).toMatchObject({
    decision: 'changed',
    argumentsHash: 'sha256:changed',
    requestedHash: 'sha256:requested',
    changedPaths: ['amount'],
    pendingActionId: id,
    decidedBy: decision?.decidedBy,
  });
  expect(JSON.stringify([approved, ran])).not.toMatch(/[^\w-]400[^\w-]/);
});

test('allows only the approved changes', async () => {
  const id = await hold();
  // Before the approval.
  const mismatch = { status: 409, code: 'ACTION_MISMATCH' };
  const refused = (fields: object) =>
    server.refused('policies.check', {
      body: {
        agentId: 'agent-1',
        sessionId: 'thread-1',
        actionId: 'call-1',
        action: { ...changed, ...fields },
      },
    });
  expect(await refused({})).toMatchObject(mismatch);
  await approve(id, { amount: 400 });
  for (const fields of [
    { arguments: { amount: 401, to: 'ada' } },
    { arguments: { amount: 400, to: 'eve' } },
    { arguments: { amount: 400 } },
    { arguments: undefined },
    { changedFrom: 'sha256:other' },
    { toolName: 'transfer' },
  ]) {
    expect(await refused(fields)).toMatchObject(mismatch);
  }
  await checkChanged();
  // The first check fixes the hash.
  expect(await refused({ argumentsHash: 'sha256:else' })).toMatchObject(mismatch);
});

test.each([
  ['no policy permits it', {}, { editable: undefined }, { amount: 400 }, 'not_editable'],
  ['it is above the limit', {}, {}, { amount: 501 }, 'not_permitted'],
  ['it is another argument', {}, {}, { to: 'eve' }, 'not_editable'],
  ['the caller cannot run it', { acceptsChanges: undefined }, {}, { amount: 400 }, 'not_supported'],
  ['the caller shows no arguments', { arguments: undefined }, {}, { amount: 400 }, 'not_shown'],
  ['it is the requested value', {}, {}, { amount: 900 }, 'unchanged'],
])('refuses a change because %s', async (_reason, fields, policy, changedArguments, code) => {
  const id = await hold(fields, policy);
  const error = await refusal(id, { changedArguments });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ code }] });
  expect(JSON.stringify(error)).not.toMatch(/[^\w-]900[^\w-]|"ada"/);
});

test('refuses changes of a denial, and a grant for the tool', async () => {
  const id = await hold();
  const code = 'VALIDATION_ERROR';
  expect(await refusal(id, { decision: 'deny', changedArguments: { amount: 1 } })).toMatchObject({ code });
  expect(await refusal(id, { changedArguments: { amount: 1 }, grant: { for: 'tool' } })).toMatchObject({
    code,
  });
});

test('counts approvals for the same arguments only', async () => {
  const id = await hold({}, { requiredApprovers: 2 });
  const [ada, grace] = [await approver('ada'), await approver('grace')];
  expect(await approve(id, { amount: 400 }, {}, ada)).toMatchObject({
    status: 'pending',
    changedArguments: { amount: 400 },
    approvals: { given: [{}] },
  });
  // An approver who may not have seen the change.
  expect(await refusal(id, {}, grace)).toMatchObject({ status: 409, code: 'ACTION_MISMATCH' });
  expect(await approve(id, { amount: 300 }, {}, grace)).toMatchObject({
    status: 'pending',
    changedArguments: { amount: 300 },
    approvals: { given: [{}] },
  });
  expect(await approve(id, {}, {}, ada)).toMatchObject({
    changedArguments: null,
    approvals: { given: [{}] },
  });
  expect(await approve(id, { amount: 300 }, {}, ada)).toMatchObject({ approvals: { given: [{}] } });
  expect(await approve(id, { amount: 300 }, {}, grace)).toMatchObject({
    status: 'approved',
    changedArguments: { amount: 300 },
    approvals: { given: [{}, {}] },
  });
  expect(await refusal(id, {}, ada)).toMatchObject({ status: 409, code: 'ALREADY_DECIDED' });
});

test('binds a grant to the changed arguments', async () => {
  const id = await hold();
  await approve(id, { amount: 400 }, { grant: { for: 'action' } });
  const again = (body: object) => server.check({ actionId: 'call-2', action: { ...action, ...body } });
  await checkChanged();
  const same = { argumentsHash: 'sha256:changed', arguments: { amount: 400, to: 'ada' } };
  expect(await again(same)).toMatchObject({ decision: 'allow', grantId: expect.any(String) });
  expect(await server.check({ actionId: 'call-3', action })).toMatchObject({ decision: 'require_approval' });
});

test('checks the changed arguments against the policies', async () => {
  const id = await hold();
  await server.policy({ name: 'Small', effect: 'deny', condition: 'has(args.amount) && args.amount < 450' });
  await approve(id, { amount: 400 });
  expect(await checkChanged()).toMatchObject({ decision: 'deny', changedArguments: null });
});

test('denies changed arguments that need another approval', async () => {
  const id = await hold();
  await server.policy({ effect: 'require_approval', condition: 'has(args.amount) && args.amount < 450' });
  await approve(id, { amount: 400 });
  const denied = await checkChanged();
  expect(denied).toMatchObject({ decision: 'deny' });
  expect(denied.matched?.[0]?.message).toContain('did not hold the requested');
});

test('keeps every digit of numbers', async () => {
  await server.policy({
    effect: 'require_approval',
    approval: { ...approval, editable: [{ path: 'amount', min: 1 }] },
  });
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };
  const post = async (path: string, body: string) => {
    const response = await fetch(new URL(path, server.server.url), { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  };
  const body = (amount: string, more: string) =>
    `{"agentId":"agent-1","sessionId":"thread-1","actionId":"call-1","action":{"toolName":"refund","arguments":{"amount":${amount}},"acceptsChanges":true,${more}}}`;
  const held = await post('/v1/policies/check', body('1917043659912705298', '"argumentsHash":"a"'));
  const { pendingActionId: id } = JSON.parse(held.text) as { pendingActionId: string };
  const path = `/v1/guardian/pending-actions/${id}/decide`;
  const change = (amount: string) => `{"decision":"approve","changedArguments":{"amount":${amount}}}`;
  expect((await post(path, change('1917043659912705299'))).status).toBe(400);
  expect((await post(path, change('0.30000000000000000001'))).text).toContain('inexact_number');
  expect(
    (await post(path, '{"decision":"approve","changedArguments":{"amount":1,"amount":2}}')).text,
  ).toContain('duplicate_key');
  expect((await post(path, '{"decision":"approve","changedArguments":{"__proto__":1}}')).text).toContain(
    'proto_key',
  );
  expect((await post(path, change('1917043659912705297'))).text).toContain('"amount":1917043659912705297');
  const changedBody = (amount: string) => body(amount, '"argumentsHash":"b","changedFrom":"a"');
  expect((await post('/v1/policies/check', changedBody('1917043659912705296'))).status).toBe(409);
  expect((await post('/v1/policies/check', changedBody('1917043659912705297'))).text).toContain('"allow"');
});

test.each([
  [{ path: 'amount' }, 'one kind'],
  [{ path: 'amount', max: 5, subset: true }, 'one kind'],
  [{ path: 'amount', max: -1 }, 'below'],
  [{ path: 'amount', max: 2 ** 53 }, ''],
  [{ path: '__proto__.amount', max: 5 }, '__proto__'],
  [{ path: 'a..b', max: 5 }, 'dots'],
  [{ path: 'a', oneOf: [] }, ''],
])('refuses the limit %j of a policy', async (editable, reason) => {
  const body = { name: 'p', effect: 'require_approval', approval: { ...approval, editable: [editable] } };
  const error = await server.refused('policies.create', { body });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(error.message).toContain(reason);
});

test('refuses a path twice in a policy, and permits what all policies permit', async () => {
  const twice = {
    ...approval,
    editable: [
      { path: 'amount', max: 5 },
      { path: 'amount', max: 6 },
    ],
  };
  const body = { name: 'p', effect: 'require_approval', approval: twice };
  expect(await server.refused('policies.create', { body })).toMatchObject({ status: 400 });
  await server.policy({
    effect: 'require_approval',
    approval: {
      ...approval,
      editable: [
        { path: 'amount', max: 700, min: 10 },
        { path: 'to', oneOf: ['ada', 'eve'] },
      ],
    },
  });
  const id = await hold(
    {},
    {
      editable: [
        { path: 'amount', max: 600 },
        { path: 'to', anyText: true },
      ],
    },
  );
  const { items } = await server.ok('guardian.pendingActions.list', {});
  expect(items.find((item) => item.id === id)?.editable).toEqual([
    { path: 'amount', min: 10, max: 600 },
    { path: 'to', oneOf: ['ada', 'eve'] },
  ]);
});
