import { parseTenant, type TenantState } from '@actlog/risk';
import { beforeEach, expect, test, vi } from 'vitest';
import { DecisionSignal } from '../../src/guardian/decision-signal.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { afterNextRead, beforeNextCommit, watchedStorages } from '../storage-seam.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';

const apiKey = newApiKey('test');
let database: string;
let one: TestServer;
let two: TestServer;

/** Starts two servers on one database with separate pools, like two processes. */
async function twoServers(options: object = {}): Promise<void> {
  database = await createDatabase();
  const shared = { database, secret: testSecret, apiKey, ...options };
  [one, two] = [await testServer(shared), await testServer(shared)];
}

beforeEach(() => twoServers());

/** Calls both servers alternately, all concurrently. */
function both<Result>(count: number, call: (server: TestServer, index: number) => Promise<Result>) {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? one : two, index)));
}

test('enforces a rate limit across both servers', async () => {
  await twoServers({ rateLimit: { requestsPerSecond: 0.01, burst: 20 } });
  const responses = await both(60, (server) => server.send('sessions.list'));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(40);
});

test('enforces a rate condition across both servers', async () => {
  await one.policy({ rate: { max: 10, windowSeconds: 3600, per: 'tenant' } });
  const responses = await both(40, (server, index) => server.check({ actionId: `a-${index}` }));
  expect(responses.filter(({ decision }) => decision === 'allow')).toHaveLength(10);
});

test('holds an action once when both servers check it concurrently', async () => {
  await one.policy({ effect: 'require_approval' });
  const responses = await both(20, (server) => server.check());
  expect(new Set(responses.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
  const named = await both(20, (server) => server.check({ actionId: 'n' }));
  expect(new Set(named.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
});

test('gives a single-use approval to one of the waiting checks on both servers', async () => {
  const approval = { timeoutSeconds: 900, onTimeout: 'deny', singleUse: true } as const;
  await one.policy({ effect: 'require_approval', approval });
  const listen = vi.spyOn(DecisionSignal.prototype, 'listen');
  atTestEnd(async () => listen.mockRestore());
  const { pendingActionId } = await one.check();
  const waiting = both(8, (server) => server.check({}, { prefer: 'wait=25' }));
  await vi.waitFor(() => expect(listen).toHaveBeenCalledTimes(8), 10_000);
  const id = pendingActionId as string;
  await two.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  const responses = await waiting;
  expect(responses.filter(({ decision }) => decision === 'allow')).toHaveLength(1);
  expect(new Set(responses.map((response) => response.pendingActionId)).size).toBe(2);
});

test('applies a request with an Idempotency-Key once', async () => {
  const options = { body: { name: 'Billing' }, headers: { 'idempotency-key': 'create-1' } };
  const responses = await both(16, (server) => server.ok('agents.create', options));
  expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  expect((await one.ok('agents.list')).items).toHaveLength(1);
});

test('registers an agent once', async () => {
  const responses = await both(16, (server) =>
    server.send('agents.create', { body: { id: 'a', name: 'A' } }),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(15);
});

test('counts every change of a policy', async () => {
  const { id } = await one.policy({ effect: 'deny' });
  await both(20, (server, index) => server.ok('policies.update', { id, body: { priority: index } }));
  expect((await two.ok('policies.get', { id })).version).toBe(21);
});

test('applies a policy of one server in the other at once', async () => {
  expect((await two.check()).decision).toBe('allow');
  const { id } = await one.policy({ effect: 'deny' });
  expect((await two.check({ actionId: 'b' })).decision).toBe('deny');
  await one.ok('policies.archive', { id });
  expect((await two.check({ actionId: 'c' })).decision).toBe('allow');
});

test('accepts a text that PostgreSQL cannot store unchanged', async () => {
  await one.policy({ effect: 'require_approval', message: 'a\0b' });
  const { pendingActionId: id } = await one.check();
  const body = { decision: 'deny', comment: 'c\0d' };
  const { reason } = await one.ok('guardian.pendingActions.decide', { id: id as string, body });
  expect(reason).toBe('a\u{fffd}b');
  const { id: agent } = await one.ok('agents.create', { body: { name: 'A', description: 'e\0f' } });
  expect((await two.ok('agents.get', { id: agent })).description).toBe('e\u{fffd}f');
});

test('lists the risk of events that the other server received', async () => {
  await one.record({ sessionId: 's' });
  const { items } = await two.ok('sessions.list');
  expect(items).toMatchObject([{ id: 's', eventCount: 1, risk: { score: expect.any(Number) } }]);
});

function approve(server: TestServer, id: string | null) {
  const body = { decision: 'approve' };
  return server.ok('guardian.pendingActions.decide', { id: id as string, body });
}

test('does not miss a decision of the other server between reading an action and waiting for it', {
  timeout: 10_000,
}, async () => {
  const headers = { prefer: 'wait=25' };
  const watched = watchedStorages();
  await one.policy({ effect: 'require_approval' });
  const first = await one.check({ actionId: 'a' });
  const waiting = one.check({ actionId: 'a' }, headers);
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  const [storage] = watched as [Storage];
  await approve(two, first.pendingActionId);
  expect((await waiting).decision).toBe('allow');
  // From here on notifications reach this server, whether a check waits or not.
  const { pendingActionId } = await one.check({ actionId: 'b' });
  afterNextRead(async () => {
    const reported = new Promise<void>((resolve) => {
      storage.watch((id) => {
        if (id === pendingActionId) resolve();
      });
    });
    await approve(two, pendingActionId);
    await reported;
  });
  expect((await one.check({ actionId: 'b' }, headers)).decision).toBe('allow');
});

test('waits for a timely decision that is being committed before it refuses a late one', async () => {
  await one.policy({ effect: 'require_approval', approval: { timeoutSeconds: 60, onTimeout: 'deny' } });
  const { pendingActionId } = await one.check({ actionId: 'a' });
  vi.useFakeTimers({ toFake: ['Date'] });
  atTestEnd(async () => void vi.useRealTimers());
  let late: ReturnType<TestServer['refused']> | undefined;
  beforeNextCommit(async () => {
    vi.setSystemTime(Date.now() + 60_000);
    let hasResponse = false;
    late = two.refused('guardian.pendingActions.decide', {
      id: pendingActionId as string,
      body: { decision: 'deny' },
    });
    void late.then(() => {
      hasResponse = true;
    });
    // It either responds too early or waits for the first.
    const waiting =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await vi.waitFor(
      async () => expect(hasResponse || (await asSuperuser(waiting, database)).length > 0).toBe(true),
      10_000,
    );
  });
  await approve(one, pendingActionId);
  expect(await late).toMatchObject({
    code: 'ALREADY_DECIDED',
    details: [{ code: 'approved' }, { path: 'decision.decidedBy' }],
  });
});

/** Returns the shared state of the tenant. */
async function sharedState(): Promise<TenantState | undefined> {
  const [row] = await asSuperuser<{ state: string }>('select state from tenant_risk', database);
  return row && parseTenant(row.state);
}

test('sees what the other server shared without anything to share itself', async () => {
  const message = { category: 'agent_message', payload: { toAgentId: 'c', contentHash: 'sha256:aa' } };
  await two.record({ sessionId: 's-2', agentId: 'b' });
  await vi.waitFor(async () => expect((await sharedState())?.sessions.size).toBe(1), 10_000);
  await one.record({ sessionId: 's-1', agentId: 'a', ...message });
  await vi.waitFor(async () => expect((await sharedState())?.sessions.size).toBe(2), 10_000);
  const { now } = performance;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 1000);
  atTestEnd(async () => clock.mockRestore());
  await two.record({ sessionId: 's-2', agentId: 'b', ...message });
  const { factors } = await two.ok('sessions.risk', { id: 's-2' });
  expect(factors.map(({ ruleId }) => ruleId)).toContain('message.replayed');
});
