import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { testSecret } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

/** Number of actions in each test; approvers of every one race. */
const actions = 25;

const apiKey = newApiKey('test');
let one: TestServer;
let two: TestServer;

/** Starts two servers on one database, with separate connections, like two processes. */
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-racing-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const shared = { database: join(folder, 'data.db'), secret: testSecret, apiKey };
  [one, two] = [await testServer(shared), await testServer(shared)];
});

/** Creates keys of approvers, alternately for both servers. */
async function approvers(count: number): Promise<TestServer[]> {
  const servers: TestServer[] = [];
  for (let index = 0; index < count; index += 1) {
    const { apiKey: key } = await one.server.admin.keys.create('default', {
      name: `approver ${index}`,
      scopes: ['decide'],
    });
    servers.push((index % 2 === 0 ? one : two).as(key));
  }
  return servers;
}

async function hold(index: number): Promise<string> {
  const { pendingActionId } = await one.check({
    actionId: `call-${index}`,
    sessionId: `thread-${index}`,
    action: { toolName: 'refund', argumentsHash: `sha256:${index}` },
  });
  return pendingActionId as string;
}

function requireApproval(requiredApprovers: number) {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers } as const;
  return one.policy({ effect: 'require_approval', approval });
}

interface Decided {
  readonly status: number;
  readonly body: { readonly status?: string; readonly approvals?: { readonly given: readonly unknown[] } };
}

async function decide(
  as: TestServer,
  id: string,
  decision: 'approve' | 'deny',
  grant?: object,
): Promise<Decided> {
  const response = await as.send('guardian.pendingActions.decide', { id, body: { decision, grant } });
  return { status: response.status, body: (await response.json()) as Decided['body'] };
}

async function decisionsOf(index: number): Promise<unknown[]> {
  const { events } = await two.ok('sessions.get', { id: `thread-${index}` });
  return events.slice(1).map(({ payload }) => (payload as { decision: unknown }).decision);
}

test('counts every approval of racing approvers on two servers, and completes once', async () => {
  await requireApproval(3);
  const servers = await approvers(4);
  for (let index = 0; index < actions; index += 1) {
    const id = await hold(index);
    // Each approver sends the approval twice.
    const responses = await Promise.all([...servers, ...servers].map((as) => decide(as, id, 'approve')));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    const { approvals } = responses.find(({ body }) => body.status === 'approved')?.body ?? {};
    expect(approvals?.given).toHaveLength(3);
    expect(await decisionsOf(index)).toEqual(['partially_approved', 'partially_approved', 'approved']);
  }
});

test('has one outcome when approvals and a denial race on two servers', async () => {
  await requireApproval(2);
  const servers = await approvers(3);
  const outcomes = new Set<string>();
  for (let index = 0; index < actions; index += 1) {
    const id = await hold(index);
    const order = [servers[index % 3], servers[(index + 1) % 3], servers[(index + 2) % 3]] as TestServer[];
    const responses = await Promise.all(
      order.map((as, place) => decide(as, id, place === index % 2 ? 'deny' : 'approve')),
    );
    const { items } = await two.ok('guardian.pendingActions.list', {
      query: { status: 'approved', sessionId: `thread-${index}` },
    });
    const outcome = items.length === 1 ? 'approved' : 'denied';
    outcomes.add(outcome);
    const ended = responses.filter(({ body }) => body.status === outcome);
    const others = responses.filter(({ status }) => status === 409);
    const counted = responses.filter(({ body }) => body.status === 'pending');
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.length + others.length + counted.length).toBe(3);
    expect((await decisionsOf(index)).filter((one) => one !== 'partially_approved')).toEqual([outcome]);
    const { decision } = await one.check({
      actionId: `call-${index}`,
      sessionId: `thread-${index}`,
      action: { toolName: 'refund', argumentsHash: `sha256:${index}` },
    });
    expect(decision).toBe(outcome === 'approved' ? 'allow' : 'deny');
  }
  expect(outcomes).toContain('denied');
});

test('lets exactly as many actions run by a grant as it says, on two servers', async () => {
  await requireApproval(2);
  const servers = (await approvers(2)) as [TestServer, TestServer];
  const held = await one.check({ actionId: 'first' });
  const id = held.pendingActionId as string;
  for (const as of servers) await decide(as, id, 'approve', { for: 'tool', maxUses: 7 });
  const responses = await Promise.all(
    Array.from({ length: actions }, (_, index) =>
      (index % 2 === 0 ? one : two).check({
        actionId: `race-${index}`,
        action: { toolName: 'refund', argumentsHash: `sha256:${index}` },
      }),
    ),
  );
  expect(responses.filter(({ decision }) => decision === 'allow')).toHaveLength(7);
  expect(responses.filter(({ decision }) => decision === 'require_approval')).toHaveLength(actions - 7);
});
