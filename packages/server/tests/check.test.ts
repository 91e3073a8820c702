import { afterEach, expect, test, vi } from 'vitest';
import { checkBody, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('allows an action without policies', async () => {
  const server = await testServer();
  expect(await server.check()).toEqual({
    decision: 'allow',
    decidedBy: null,
    changedArguments: null,
    comment: null,
    grantId: null,
    matched: [],
    pendingActionId: null,
    expiresAt: null,
  });
});

test('ranks deny over require_approval over allow, and reports all matches', async () => {
  const server = await testServer();
  const allow = await server.policy({ effect: 'allow' });
  expect(await server.check()).toMatchObject({ decision: 'allow', decidedBy: allow.id });
  const approve = await server.policy({ effect: 'require_approval' });
  expect(await server.check()).toMatchObject({ decision: 'require_approval', decidedBy: approve.id });
  const deny = await server.policy({ effect: 'deny', message: 'Not today' });
  const response = await server.check();
  expect(response).toMatchObject({ decision: 'deny', decidedBy: deny.id, pendingActionId: null });
  expect(response.matched.map(({ policyId }) => policyId)).toEqual([deny.id, approve.id, allow.id]);
  expect(response.matched[0]?.message).toBe('Not today');
});

test('lets the highest priority decide among policies of one effect', async () => {
  const server = await testServer();
  await server.policy({ priority: 1 });
  const first = await server.policy({ priority: 7 });
  await server.policy({ priority: -3 });
  expect((await server.check()).decidedBy).toBe(first.id);
});

test('reports a log_only policy without letting it decide', async () => {
  const server = await testServer();
  const { id } = await server.policy({ mode: 'log_only' });
  expect(await server.check()).toMatchObject({
    decision: 'allow',
    decidedBy: null,
    matched: [{ policyId: id, effect: 'deny', mode: 'log_only' }],
  });
});

test.each([
  [{ tools: ['refund'] }, 'deny'],
  [{ tools: ['re*'] }, 'deny'],
  [{ tools: ['*f*n*'] }, 'deny'],
  [{ tools: ['pay', '*und'] }, 'deny'],
  [{ tools: ['refun'] }, 'allow'],
  [{ tools: ['re.und'] }, 'allow'],
  [{ agents: ['billing-*'], environments: ['prod'] }, 'deny'],
  [{ agents: ['billing-*'], environments: ['dev'] }, 'allow'],
  [{ frameworks: ['*'] }, 'allow'], // the check names none
])('matches %j: %s', async (match, decision) => {
  const server = await testServer();
  await server.policy({ match });
  expect((await server.check({ environment: 'prod' })).decision).toBe(decision);
});

test('evaluates a condition on the displayed arguments, and says why it matched', async () => {
  const server = await testServer();
  await server.policy({ condition: 'has(args.amount) && double(args.amount) > 500.0' });
  const action = (shown?: Record<string, unknown>) => ({
    action: { toolName: 'refund', argumentsHash: 'sha256:aa', ...(shown && { arguments: shown }) },
  });
  expect((await server.check(action({ amount: 500 }))).decision).toBe('allow');
  expect((await server.check(action())).decision).toBe('allow');
  const denied = await server.check(action({ amount: 500.5 }));
  expect(denied).toMatchObject({ decision: 'deny', matched: [{ why: 'the condition holds' }] });
});

test.each([
  ['deny', 'deny'],
  ['require_approval', 'require_approval'],
  ['allow', 'allow'],
] as const)('treats a failing condition by its effect: %s', async (effect, decision) => {
  const server = await testServer();
  const { id } = await server.policy({ effect, condition: 'args.amount > 5' });
  const response = await server.check();
  expect(response.decision).toBe(decision);
  expect(response.decidedBy).toBe(effect === 'allow' ? null : id);
});

test('treats a condition on arguments that are too large as failing', async () => {
  const server = await testServer();
  await server.policy({ condition: 'args.list.exists(x, x == "no")' });
  const list = Array.from({ length: 20_000 }, (_, index) => index);
  const response = await server.check({
    action: { toolName: 'refund', argumentsHash: 'h', arguments: { list } },
  });
  expect(response.decision).toBe('deny');
  expect(response.matched[0]?.why).toContain('too large');
});

test('fires a rate beyond its limit, counts each named action once, and does not count denied actions', async () => {
  const server = await testServer();
  await server.policy({ rate: { max: 3, windowSeconds: 3600, per: 'agent' } });
  const decisions: string[] = [];
  for (const actionId of ['a', 'b', 'b', 'c', 'd', 'c', 'e']) {
    decisions.push((await server.check({ actionId })).decision);
  }
  expect(decisions).toEqual(['allow', 'allow', 'allow', 'allow', 'deny', 'allow', 'deny']);
  const response = await server.check({ actionId: 'f' });
  expect(response.matched[0]?.why).toContain('action 4 in 3600 seconds, and the limit is 3');
  expect((await server.check({ agentId: 'other' })).decision).toBe('allow');
});

test('never lets more actions pass than the rate allows, wherever the window begins', async () => {
  const server = await testServer();
  await server.policy({ rate: { max: 1, windowSeconds: 60, per: 'agent' } });
  vi.useFakeTimers({ toFake: ['Date'] });
  const firstMs = Math.ceil(Date.now() / 60_000) * 60_000 + 999;
  vi.setSystemTime(firstMs);
  expect((await server.check()).decision).toBe('allow');
  vi.setSystemTime(firstMs + 59_999);
  expect((await server.check()).decision).toBe('deny');
  vi.setSystemTime(firstMs + 61_000);
  expect((await server.check()).decision).toBe('allow');
});

test('lets exactly as many racing actions pass as the rate allows', async () => {
  const server = await testServer();
  await server.policy({ rate: { max: 10, windowSeconds: 60, per: 'tenant' } });
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, index) => server.check({ agentId: `agent-${index}` })),
  );
  expect(responses.filter(({ decision }) => decision === 'allow')).toHaveLength(10);
});

test('refuses another action under the same actionId', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  await server.check({ actionId: 'call-1' });
  const body = checkBody({ actionId: 'call-1', action: { toolName: 'refund', argumentsHash: 'sha256:bb' } });
  expect(await server.refused('policies.check', { body })).toMatchObject({
    status: 409,
    code: 'ACTION_MISMATCH',
  });
});

test('binds an approval to the displayed arguments, in any order of their members', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
  const shown = { ...action, arguments: { amount: 1, to: { bank: 'b', account: 'a' } } };
  const { pendingActionId } = await server.check({ actionId: 'call-1', action: shown });
  const id = pendingActionId as string;
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  const reordered = { ...action, arguments: { to: { account: 'a', bank: 'b' }, amount: 1 } };
  expect((await server.check({ actionId: 'call-1', action: reordered })).decision).toBe('allow');
  for (const other of [{ ...shown, arguments: { ...shown.arguments, amount: 1_000_000 } }, action]) {
    const body = checkBody({ actionId: 'call-1', action: other });
    expect((await server.refused('policies.check', { body })).code).toBe('ACTION_MISMATCH');
  }
});

test('holds an action without an actionId separately when its displayed arguments differ', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const held = async (amount: number) => {
    const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { amount } };
    return (await server.check({ action })).pendingActionId;
  };
  const first = await held(1);
  expect(await held(1)).toBe(first);
  expect(await held(1_000_000)).not.toBe(first);
});

test('responds to a dry run as to a check, without any effect', async () => {
  const server = await testServer();
  const dry = (fields = {}) =>
    server.check({ actionId: 'call-1', ...fields }, { prefer: 'dry-run, wait=20' });
  const { id } = await server.policy({ effect: 'require_approval' });
  await server.policy({ name: 'rate', effect: 'deny', rate: { max: 1, windowSeconds: 60, per: 'agent' } });
  for (let round = 0; round < 3; round += 1) {
    expect(await dry()).toMatchObject({ decision: 'require_approval', decidedBy: id, pendingActionId: null });
  }
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
  expect((await server.ok('sessions.list')).items).toEqual([]);
  // The rate counts only the first check; a dry run after it then reports the second.
  const held = await server.check({ actionId: 'call-1' });
  expect(await dry()).toEqual(held);
  expect(await dry({ actionId: 'call-2' })).toMatchObject({ decision: 'deny' });
  expect(
    await server.refused('policies.check', {
      body: { ...checkBody(), actionId: 'call-1', action: { toolName: 'other', argumentsHash: 'x' } },
      headers: { prefer: 'dry-run' },
    }),
  ).toMatchObject({ code: 'ACTION_MISMATCH' });
});

test('binds an approval to the session of its action', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const held = await server.check({ actionId: 'call-1', sessionId: 'one' });
  const id = held.pendingActionId as string;
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect((await server.check({ actionId: 'call-1', sessionId: 'one' })).decision).toBe('allow');
  for (const sessionId of ['other', undefined]) {
    const body = checkBody({ actionId: 'call-1', sessionId });
    expect((await server.refused('policies.check', { body })).code).toBe('ACTION_MISMATCH');
  }
});

test('refuses a check whose arguments lack a part of what the tool gets', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const action = { ...checkBody().action, arguments: { amount: 1, ['__proto__']: { isAdmin: true } } };
  const error = await server.refused('policies.check', { body: checkBody({ action }) });
  expect(error.details).toMatchObject([{ code: 'proto_key' }]);
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
});
