import { parseTenant, type TenantState } from '@actlog/risk';
import { beforeEach, expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/keys/api-key.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { afterNextRead, beforeNextCommit, watchedStorages } from '../storage-seam.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';

const apiKey = newApiKey('test');
let database: string;
let one: TestServer;
let two: TestServer;

/** Two servers on one database, with pools of their own, as two processes have. */
async function twoServers(options: object = {}): Promise<void> {
  database = await createDatabase();
  const shared = { database, secret: testSecret, apiKey, ...options };
  [one, two] = [await testServer(shared), await testServer(shared)];
}

beforeEach(() => twoServers());

/** Calls both servers in turn, all at once. */
function both<Result>(count: number, call: (server: TestServer, index: number) => Promise<Result>) {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? one : two, index)));
}

test('a rate limit holds over both', async () => {
  await twoServers({ rateLimit: { requestsPerSecond: 0.01, burst: 20 } });
  const responses = await both(60, (server) => server.send('sessions.list'));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(40);
});

test('a rate condition lets exactly its number pass', async () => {
  await one.policy({ rate: { max: 10, windowSeconds: 3600, per: 'tenant' } });
  const answers = await both(40, (server, index) => server.check({ actionId: `a-${index}` }));
  expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(10);
});

test('an action that is checked through both at once is held once', async () => {
  await one.policy({ effect: 'require_approval' });
  const answers = await both(20, (server) => server.check());
  expect(new Set(answers.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
  const named = await both(20, (server) => server.check({ actionId: 'n' }));
  expect(new Set(named.map(({ pendingActionId }) => pendingActionId)).size).toBe(1);
});

test('a request with an Idempotency-Key takes effect once', async () => {
  const options = { body: { name: 'Billing' }, headers: { 'idempotency-key': 'create-1' } };
  const answers = await both(16, (server) => server.ok('agents.create', options));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect((await one.ok('agents.list')).items).toHaveLength(1);
});

test('an agent is registered once', async () => {
  const responses = await both(16, (server) =>
    server.send('agents.create', { body: { id: 'a', name: 'A' } }),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(15);
});

test('every change of a policy counts', async () => {
  const { id } = await one.policy({ effect: 'deny' });
  await both(20, (server, index) => server.ok('policies.update', { id, body: { priority: index } }));
  expect((await two.ok('policies.get', { id })).version).toBe(21);
});

test('a policy that one takes holds at once in the other', async () => {
  expect((await two.check()).decision).toBe('allow');
  const { id } = await one.policy({ effect: 'deny' });
  expect((await two.check({ actionId: 'b' })).decision).toBe('deny');
  await one.ok('policies.archive', { id });
  expect((await two.check({ actionId: 'c' })).decision).toBe('allow');
});

test('a text that PostgreSQL cannot hold as it is does not fail a request', async () => {
  await one.policy({ effect: 'require_approval', message: 'a\0b' });
  const { pendingActionId: id } = await one.check();
  const body = { decision: 'deny', comment: 'c\0d' };
  const { reason } = await one.ok('guardian.pendingActions.decide', { id: id as string, body });
  expect(reason).toBe('a\u{fffd}b');
  const { id: agent } = await one.ok('agents.create', { body: { name: 'A', description: 'e\0f' } });
  expect((await two.ok('agents.get', { id: agent })).description).toBe('e\u{fffd}f');
});

test('a list of one shows the risk of what came through the other', async () => {
  await one.record({ sessionId: 's' });
  const { items } = await two.ok('sessions.list');
  expect(items).toMatchObject([{ id: 's', eventCount: 1, risk: { score: expect.any(Number) } }]);
});

function approve(server: TestServer, id: string | null) {
  const body = { decision: 'approve' };
  return server.ok('guardian.pendingActions.decide', { id: id as string, body });
}

test('a decision of the other between the look at an action and the waiting for it is heard of', {
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
  // From here on what is decided reaches this server, whether someone waits for it or not.
  const { pendingActionId } = await one.check({ actionId: 'b' });
  afterNextRead(async () => {
    const told = new Promise<void>((resolve) => {
      storage.watch((id) => {
        if (id === pendingActionId) resolve();
      });
    });
    await approve(two, pendingActionId);
    await told;
  });
  expect((await one.check({ actionId: 'b' }, headers)).decision).toBe('allow');
});

test('a decision that comes late is told of one that came in time and is committed only then', async () => {
  await one.policy({ effect: 'require_approval', approval: { timeoutSeconds: 60, onTimeout: 'deny' } });
  const { pendingActionId } = await one.check({ actionId: 'a' });
  vi.useFakeTimers({ toFake: ['Date'] });
  atTestEnd(async () => void vi.useRealTimers());
  let late: ReturnType<TestServer['refused']> | undefined;
  beforeNextCommit(async () => {
    vi.setSystemTime(Date.now() + 60_000);
    let isAnswered = false;
    late = two.refused('guardian.pendingActions.decide', {
      id: pendingActionId as string,
      body: { decision: 'deny' },
    });
    void late.then(() => {
      isAnswered = true;
    });
    // It is answered too early, or waits for the first.
    const waiting =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await vi.waitFor(
      async () => expect(isAnswered || (await asSuperuser(waiting, database)).length > 0).toBe(true),
      10_000,
    );
  });
  await approve(one, pendingActionId);
  expect(await late).toMatchObject({ code: 'ALREADY_DECIDED', details: [{ code: 'approved' }] });
});

/** What all servers have shared of the tenant. */
async function sharedState(): Promise<TenantState | undefined> {
  const [row] = await asSuperuser<{ state: string }>('select state from tenant_risk', database);
  return row && parseTenant(row.state);
}

test('a server that has nothing to share itself sees what the other shared', async () => {
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
