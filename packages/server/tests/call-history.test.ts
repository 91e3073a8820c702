import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BodyOf } from '@actlog/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

type Check = Partial<BodyOf<'policies.check'>> & { readonly shown?: Record<string, unknown> };

afterEach(() => {
  vi.useRealTimers();
});

/** Checks a call of a tool. */
function check(server: TestServer, toolName: string, { shown, ...also }: Check = {}, headers = {}) {
  const action = { toolName, argumentsHash: 'sha256:aa', ...(shown && { arguments: shown }) };
  return server.check({ action, actionId: randomUUID(), ...also }, headers);
}

async function decide(server: TestServer, toolName: string, also: Check = {}): Promise<string> {
  return (await check(server, toolName, also)).decision;
}

/** Checks and runs a call, and reports its end. */
async function run(server: TestServer, toolName: string, responseStatus = 200, also: Check = {}) {
  const actionId = randomUUID();
  const { decision } = await check(server, toolName, { actionId, ...also });
  if (decision !== 'allow') return decision;
  await server.record({
    eventId: actionId,
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
  });
  return decision;
}

/** Returns options of a server with a database that outlives it, until the end of the test. */
async function keptDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-history-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return withTestDatabase({ database: join(folder, 'a.db'), apiKey: newApiKey('test') });
}

test('opens a gate only when the approval has succeeded', async () => {
  const server = await testServer();
  await server.policy({
    match: { tools: ['refund'] },
    condition: '!session.called("approve_refund", duration("1h"))',
  });
  expect(await decide(server, 'refund')).toBe('deny');
  await run(server, 'approve_refund', 500);
  expect(await decide(server, 'refund')).toBe('deny');
  await check(server, 'approve_refund');
  expect(await decide(server, 'refund')).toBe('deny');
  await run(server, 'approve_refund');
  expect(await decide(server, 'refund')).toBe('allow');
  expect(await decide(server, 'refund', { sessionId: 'another' })).toBe('deny');
});

test('limits calls and sums, also of calls under way, and counts a repeated check once', async () => {
  const server = await testServer();
  await server.policy({
    name: 'limit',
    match: { tools: ['delete_*'] },
    condition: 'session.count("delete_*") >= 2',
  });
  await server.policy({
    name: 'budget',
    match: { tools: ['refund'] },
    condition: 'session.sum("refund", "amount", duration("24h")) + double(args.amount) > 100.0',
  });
  const repeated = { actionId: 'once' };
  expect(await decide(server, 'delete_file', repeated)).toBe('allow');
  expect(await decide(server, 'delete_file', repeated)).toBe('allow');
  expect(await decide(server, 'delete_table')).toBe('allow');
  const { decision, matched } = await check(server, 'delete_row');
  expect({ decision, why: matched[0]?.why }).toEqual({
    decision: 'deny',
    why: 'the tool matches "delete_*"; the condition holds',
  });
  expect(await decide(server, 'delete_file', repeated)).toBe('allow');
  expect(await decide(server, 'delete_file', { sessionId: 'another' })).toBe('allow');
  expect(await decide(server, 'refund', { shown: { amount: 60 } })).toBe('allow');
  expect(await decide(server, 'refund', { shown: { amount: 60 } })).toBe('deny');
  expect(await decide(server, 'refund', { shown: { amount: 40 } })).toBe('allow');
});

test('counts nothing for a dry run, and reads the history for it', async () => {
  const server = await testServer();
  await server.policy({ match: { tools: ['pay'] }, condition: 'session.count("pay") >= 1' });
  const dry = { prefer: 'dry-run' };
  expect((await check(server, 'pay', {}, dry)).decision).toBe('allow');
  expect(await decide(server, 'pay')).toBe('allow');
  expect((await check(server, 'pay', {}, dry)).decision).toBe('deny');
});

test('counts held actions when they are approved, so that two approvals cannot pass a limit of one', async () => {
  const server = await testServer();
  await server.policy({ name: 'hold', effect: 'require_approval', match: { tools: ['pay'] } });
  await server.policy({ name: 'limit', match: { tools: ['pay'] }, condition: 'session.count("pay") >= 1' });
  const held = [];
  for (const actionId of ['first', 'second']) held.push(await check(server, 'pay', { actionId }));
  expect(held.map(({ decision }) => decision)).toEqual(['require_approval', 'require_approval']);
  for (const { pendingActionId } of held) {
    await server.ok('guardian.pendingActions.decide', {
      id: String(pendingActionId),
      body: { decision: 'approve' },
    });
  }
  const decisions = [];
  for (const actionId of ['first', 'second', 'first', 'second']) {
    decisions.push((await check(server, 'pay', { actionId }, { prefer: 'wait=1' })).decision);
  }
  expect(decisions).toEqual(['allow', 'deny', 'allow', 'deny']);
});

test('tells sessions that read text of unknown authors, and the first use of a tool', async () => {
  const server = await testServer();
  await server.policy({ name: 'mail', match: { tools: ['send_email'] }, condition: 'session.untrusted()' });
  await server.policy({
    name: 'new',
    effect: 'require_approval',
    match: { tools: ['wire'] },
    condition: 'agent.firstUse()',
  });
  expect(await decide(server, 'send_email')).toBe('allow');
  expect(await decide(server, 'calculate')).toBe('allow');
  expect(await decide(server, 'send_email')).toBe('allow');
  expect(await decide(server, 'read_inbox')).toBe('allow');
  expect(await decide(server, 'send_email')).toBe('deny');
  const first = await check(server, 'wire', { actionId: 'first' });
  expect(first.decision).toBe('require_approval');
  await server.ok('guardian.pendingActions.decide', {
    id: String(first.pendingActionId),
    body: { decision: 'approve' },
  });
  expect(await decide(server, 'wire', { actionId: 'first' })).toBe('allow');
  expect(await decide(server, 'wire', { sessionId: 'another' })).toBe('allow');
  expect(await decide(server, 'wire', { agentId: 'stranger' })).toBe('require_approval');
});

test('cannot tell the history of a check without a session, or of a session that began earlier', async () => {
  const server = await testServer();
  await server.record({});
  await server.policy({ name: 'never', effect: 'allow', condition: 'session.called("approve")' });
  await server.policy({ name: 'limit', match: { tools: ['pay'] }, condition: 'session.count("pay") > 5' });
  await server.policy({
    name: 'recent',
    match: { tools: ['pay'] },
    condition: 'session.started("x", duration("1s"))',
  });
  const before = await check(server, 'pay');
  expect(before.decision).toBe('deny');
  expect(before.matched[0]?.why).toMatch(
    /the condition cannot be evaluated \(the session began before its history was kept, at 2.*Z\), which counts as a match/,
  );
  expect(await decide(server, 'pay', { sessionId: 'new' })).toBe('allow');
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa' };
  const without = await server.ok('policies.check', { body: { agentId: 'bot', action } });
  expect(without.matched.map(({ why }) => why)).toContain(
    'the tool matches "pay"; the condition cannot be evaluated (the check has no sessionId, so it has no history), which counts as a match',
  );
});

test('rejects conditions on the history that are not bounded', async () => {
  const server = await testServer();
  for (const [condition, problem] of [
    [
      'session.counts("pay") > 1',
      "found no matching overload for 'Session.counts(string)' (line 1, column 1)",
    ],
    ['session.count(args.tool) > 1', 'a tool must be a literal pattern of 1 to 200 characters'],
    ['session.count("pay", duration("25h")) > 1', 'a window must be from 1 second to 24 hours, got "25h"'],
  ] as const) {
    const body = { name: 'p', effect: 'deny', condition };
    const refused = await server.refused('policies.create', { body });
    expect(refused.details[0]).toMatchObject({ path: 'condition', code: 'invalid_condition' });
    expect(refused.details[0]?.message).toContain(problem);
  }
});

test('forgets the history with the session, and after the retention of sessions', async () => {
  const options = await keptDatabase();
  const server = await testServer(options);
  await server.policy({ match: { tools: ['pay'] }, condition: 'session.count("pay") >= 1' });
  await server.record({ sessionId: 'deleted' });
  for (const sessionId of ['deleted', 'kept']) {
    expect(await decide(server, 'pay', { sessionId })).toBe('allow');
    expect(await decide(server, 'pay', { sessionId })).toBe('deny');
  }
  await server.server.admin.sessions.delete(server.tenant, 'deleted', { erasure: 'Request 1' });
  expect(await decide(server, 'pay', { sessionId: 'deleted' })).toBe('allow');
  await server.server.admin.tenants.setRetention(server.tenant, { sessions: 30 });
  const storage = await openStorage({ database: String(options.database), connections: 2 });
  atTestEnd(() => storage.close());
  const dayMs = 86_400_000;
  const nowMs = Date.now();
  await deleteExpiredData(storage, nowMs + 29 * dayMs);
  expect((await check(server, 'pay', { sessionId: 'kept' })).matched[0]?.why).toContain(
    'the condition holds',
  );
  await deleteExpiredData(storage, nowMs + 31 * dayMs);
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(nowMs + 31 * dayMs);
  expect((await check(server, 'pay', { sessionId: 'kept' })).matched[0]?.why).toContain(
    'older calls of the session are not kept any more',
  );
});
