import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WatchedCalls } from '@actlog/policy';
import type { Overview, PolicyDecisionPage } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { readQuotaUsage } from '../src/administration/tenants.ts';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import { Metrics } from '../src/observability/metrics.ts';
import { openStorage } from '../src/open-storage.ts';
import { DecisionLog, decisionRow } from '../src/policy/decision-log.ts';
import { listPolicyDecisions } from '../src/storage/policies/policy-decision-store.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { ChildServer } from './child-server.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { readError, type TestServer, testServer } from './test-server.ts';

function request(server: TestServer, query: Readonly<Record<string, string>> = {}): Promise<Response> {
  const url = new URL('/server/v1/decisions', server.server.url);
  url.search = new URLSearchParams(query).toString();
  return fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
}

async function decisions(
  server: TestServer,
  query?: Readonly<Record<string, string>>,
): Promise<PolicyDecisionPage> {
  const response = await request(server, query);
  expect(response.status).toBe(200);
  return (await response.json()) as PolicyDecisionPage;
}

const dayMs = 24 * 3_600_000;
const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };

test('keeps every decision, an allowed action without a policy included', async () => {
  const server = await testServer();
  await server.check({ agentId: 'billing', sessionId: 's-1', action, environment: 'prod' });
  const policy = await server.policy({ match: { tools: ['refund'] }, effect: 'deny' });
  const audit = await server.policy({ mode: 'log_only' });
  await server.check({ agentId: 'billing', sessionId: 's-1', actionId: 'a-1', action });
  const { items, nextCursor } = await decisions(server);
  expect(nextCursor).toBeNull();
  expect(items).toEqual([
    {
      id: expect.stringMatching(/^dec_[0-9a-f]{32}$/),
      decidedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      agentId: 'billing',
      sessionId: 's-1',
      actionId: 'a-1',
      toolName: 'refund',
      argumentsHash: 'sha256:aa',
      framework: null,
      environment: null,
      decision: 'deny',
      decidedBy: policy.id,
      matched: [
        {
          policyId: policy.id,
          policyName: 'test',
          version: 1,
          effect: 'deny',
          mode: 'enforce',
          priority: 0,
        },
        {
          policyId: audit.id,
          policyName: 'test',
          version: 1,
          effect: 'deny',
          mode: 'log_only',
          priority: 0,
        },
      ],
      pendingActionId: null,
      heldStatus: null,
      endedAt: null,
      grantId: null,
      principal: null,
      subagent: null,
      parentAgentIds: [],
      identity: null,
      traceparent: null,
      executedHash: null,
      dryRun: false,
      durationMs: expect.any(Number),
      arguments: null,
      argumentsOmitted: false,
      origins: null,
    },
    expect.objectContaining({ decision: 'allow', decidedBy: null, matched: [], environment: 'prod' }),
  ]);
  expect(items[0]?.durationMs).toBeGreaterThan(0);
});

test('keeps the version of a policy at the time of the decision', async () => {
  const server = await testServer();
  const { id } = await server.policy();
  await server.check();
  await server.ok('policies.update', { id, body: { effect: 'allow' } });
  await server.check();
  const versions = (await decisions(server)).items.map(({ decision, matched }) => [
    decision,
    matched[0]?.version,
  ]);
  expect(versions).toEqual([
    ['allow', 2],
    ['deny', 1],
  ]);
});

test('names the policy of each denial and held action, as it was named then', async () => {
  const server = await testServer();
  const denying = await server.policy({ name: 'No deletions', match: { tools: ['delete'] } });
  const holding = await server.policy({
    name: 'Refunds',
    effect: 'require_approval',
    match: { tools: ['refund'] },
  });
  const denied = await server.check({ action: { ...action, toolName: 'delete' } });
  const held = await server.check({ actionId: 'a-1' });
  expect(denied.matched).toMatchObject([{ policyId: denying.id, policyName: 'No deletions' }]);
  expect(held.matched).toMatchObject([{ policyId: holding.id, policyName: 'Refunds' }]);
  for (const { id } of [denying, holding])
    await server.ok('policies.update', { id, body: { name: 'renamed' } });
  const named = { policyId: holding.id, policyName: 'Refunds' };
  expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([named]);
  expect(await decide(server, held.pendingActionId as string, 'deny')).toMatchObject(named);
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.map(({ payload }) => [payload.decision, payload.policyName])).toEqual([
    ['deny', 'No deletions'],
    ['require_approval', 'Refunds'],
    ['denied', 'Refunds'],
  ]);
  const later = await server.policy({ name: 'Freeze', priority: 5 });
  await server.check({ actionId: 'a-1' });
  const kept = (await decisions(server)).items.map(({ matched }) => matched.map((one) => one.policyName));
  expect(kept).toEqual([['Refunds'], ['No deletions']]);
  expect((await server.check()).matched[0]).toMatchObject({ policyId: later.id, policyName: 'Freeze' });
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'billing' } });
  await server.ok('agents.update', { id: 'billing-agent', body: { status: 'revoked' } });
  expect((await server.check()).matched[0]).toMatchObject({ policyName: 'Revoked agents' });
});

test('keeps dry runs as such', async () => {
  const server = await testServer();
  await server.policy();
  await server.check({}, { prefer: 'dry-run' });
  await server.check();
  expect((await decisions(server)).items.map(({ dryRun }) => dryRun)).toEqual([false, true]);
  expect((await decisions(server, { dryRun: 'true' })).items).toHaveLength(1);
});

/** Returns the decisions of the list, and those that the overview counts. */
async function shownDecisions(server: TestServer) {
  const url = new URL('/server/v1/overview', server.server.url);
  const overview = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
  const { totals } = (await overview.json()) as Overview;
  const { items } = await decisions(server);
  return {
    listed: items.map(({ decision, heldStatus }) => `${decision} ${heldStatus}`),
    counted: totals.decisions,
    items,
  };
}

const inTime = { timeoutSeconds: 60, onTimeout: 'deny' } as const;

const none = { allow: 0, deny: 0, require_approval: 0 };

/** Ends of a held call: what happens while it waits, and how it is listed then. */
const heldCalls: Readonly<
  Record<
    string,
    {
      approval?: { timeoutSeconds: number; onTimeout: 'deny' | 'allow' };
      run: (server: TestServer, id: string) => Promise<unknown>;
      end: string;
    }
  >
> = {
  'an approved call that runs': {
    run: async (server, id) => {
      await decide(server, id, 'approve');
      await server.check({ actionId: 'a-1' });
      await server.check({ actionId: 'a-1' });
    },
    end: 'allow approved',
  },
  'an approved call whose agent never comes back': {
    run: (server, id) => decide(server, id, 'approve'),
    end: 'allow approved',
  },
  'a denied call': {
    run: async (server, id) => {
      await decide(server, id, 'deny');
      await server.check({ actionId: 'a-1' });
    },
    end: 'deny denied',
  },
  'a call that waits in its check': {
    run: async (server, id) => {
      const waiting = server.check({ actionId: 'a-1' }, { prefer: 'wait=20' });
      await decide(server, id, 'approve');
      await waiting;
    },
    end: 'allow approved',
  },
  'an expired call': {
    approval: { timeoutSeconds: 1, onTimeout: 'deny' },
    run: (server) => expect.poll(() => server.check({ actionId: 'a-1' })).toMatchObject({ decision: 'deny' }),
    end: 'deny expired',
  },
  'a call that runs when its time is over': {
    approval: { timeoutSeconds: 1, onTimeout: 'allow' },
    run: (server) =>
      expect.poll(() => server.check({ actionId: 'a-1' })).toMatchObject({ decision: 'allow' }),
    end: 'allow expired',
  },
  'a call whose agent only polls': {
    run: async (server) => {
      for (let poll = 0; poll < 3; poll += 1) await server.check({ actionId: 'a-1' });
    },
    end: 'require_approval pending',
  },
  'a call that another policy denies while it waits': {
    run: async (server) => {
      await server.policy({ name: 'later' });
      expect(await server.check({ actionId: 'a-1' })).toMatchObject({ decision: 'deny' });
    },
    end: 'deny pending',
  },
};

function decide(server: TestServer, id: string, decision: 'approve' | 'deny') {
  return server.ok('guardian.pendingActions.decide', { id, body: { decision } });
}

for (const [call, { approval, run, end }] of Object.entries(heldCalls)) {
  test(`lists and counts ${call} once`, async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval', ...(approval && { approval }) });
    const held = await server.check({ actionId: 'a-1' });
    const before = await shownDecisions(server);
    // An action whose time is a second may be over already.
    if (!approval) {
      expect(before).toMatchObject({
        listed: ['require_approval pending'],
        counted: { ...none, require_approval: 1 },
      });
    }
    await run(server, held.pendingActionId as string);
    const shown = await shownDecisions(server);
    expect(shown).toMatchObject({ listed: [end], counted: { ...none, [end.split(' ')[0] as string]: 1 } });
    expect(shown.items).toMatchObject([{ pendingActionId: held.pendingActionId }]);
    expect(shown.items[0]?.matched.at(-1)).toMatchObject({ policyId: held.decidedBy, version: 1 });
  });
}

test('lists a call of several approvers once, and its end with the time', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await server.policy({ effect: 'require_approval', approval: { ...inTime, requiredApprovers: 2 } });
  const held = await server.check({ actionId: 'a-1' });
  const approve = async (name: string) => {
    const { apiKey, key } = await admin.keys.create(server.tenant, { name, scopes: ['decide'] });
    await decide(server.as(apiKey), held.pendingActionId as string, 'approve');
    return `key_${key.id}`;
  };
  await approve('one');
  await server.check({ actionId: 'a-1' });
  expect((await shownDecisions(server)).listed).toEqual(['require_approval pending']);
  expect((await decisions(server)).items).toMatchObject([{ endedAt: null, decidedBy: held.decidedBy }]);
  const second = await approve('two');
  await server.check({ actionId: 'a-1' });
  const { listed, counted, items } = await shownDecisions(server);
  expect({ listed, counted }).toEqual({ listed: ['allow approved'], counted: { ...none, allow: 1 } });
  const [{ decidedAt, endedAt, decidedBy } = {} as never] = items;
  expect(decidedBy).toBe(second);
  expect(Date.parse(endedAt as string)).toBeGreaterThanOrEqual(Date.parse(decidedAt));
});

test('finds held calls by their outcome', async () => {
  const server = await testServer();
  await server.check({ sessionId: 's-0' });
  await server.policy({ effect: 'require_approval' });
  for (const [sessionId, decision] of Object.entries({ 's-1': 'approve', 's-2': 'deny', 's-3': undefined })) {
    const { pendingActionId } = await server.check({ sessionId });
    if (decision) await decide(server, pendingActionId as string, decision as 'approve');
  }
  const sessions = async (query: Readonly<Record<string, string>>) =>
    (await decisions(server, query)).items.map(({ sessionId }) => sessionId);
  expect(await sessions({ decision: 'allow' })).toEqual(['s-1', 's-0']);
  expect(await sessions({ decision: 'deny' })).toEqual(['s-2']);
  expect(await sessions({ decision: 'require_approval' })).toEqual(['s-3']);
  expect(await sessions({ held: 'true' })).toEqual(['s-3', 's-2', 's-1']);
  expect(await sessions({ held: 'false' })).toEqual(['s-0']);
});

test('lists two calls that wait for one approval, or use it one after the other, as one', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const [first, second] = await Promise.all([server.check(), server.check()]);
  expect(first.pendingActionId).toBe(second.pendingActionId);
  await server.check();
  expect((await shownDecisions(server)).listed).toEqual(['require_approval pending']);
});

test('lists each of many calls once that are polled while they are decided', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const calls = Array.from({ length: 20 }, (_, number) => `a-${number}`);
  await Promise.all(
    calls.map(async (actionId) => {
      const { pendingActionId } = await server.check({ actionId });
      const poll = () => server.check({ actionId });
      await Promise.all([poll(), decide(server, pendingActionId as string, 'approve'), poll(), poll()]);
    }),
  );
  const { listed, counted } = await shownDecisions(server);
  expect(listed).toEqual(calls.map(() => 'allow approved'));
  expect(counted).toEqual({ ...none, allow: 20 });
});

test('keeps no decision of a held call beyond the quota, and none if the server keeps none', async () => {
  const full = await testServer();
  await full.server.admin.tenants.setQuota(full.tenant, { decisions: 0 });
  for (const server of [full, await testServer({ keepDecisions: false })]) {
    await server.policy({ effect: 'require_approval' });
    const { pendingActionId } = await server.check({ actionId: 'a-1' });
    await decide(server, pendingActionId as string, 'approve');
    expect(await server.check({ actionId: 'a-1' })).toMatchObject({ decision: 'allow' });
    expect(await shownDecisions(server)).toMatchObject({ listed: [], counted: none });
  }
});

test('lists a call that is held again after its approval was used as another one', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval', approval: { ...inTime, singleUse: true } });
  for (let time = 0; time < 2; time += 1) {
    const { pendingActionId } = await server.check();
    const waiting = server.check({}, { prefer: 'wait=20' });
    await decide(server, pendingActionId as string, 'approve');
    await waiting;
  }
  const { listed, counted } = await shownDecisions(server);
  expect({ listed, counted }).toEqual({
    listed: ['allow approved', 'allow approved'],
    counted: { ...none, allow: 2 },
  });
});

test('keeps a dry run of a held call apart from the call', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ actionId: 'a-1' });
  await server.check({ actionId: 'a-1' }, { prefer: 'dry-run' });
  await decide(server, pendingActionId as string, 'approve');
  expect((await decisions(server)).items).toMatchObject([
    { dryRun: true, decision: 'require_approval' },
    { dryRun: false, decision: 'allow' },
  ]);
});

test('keeps shown arguments and origins, but no large arguments', async () => {
  const server = await testServer();
  const origins = { to: { from: 'user' } } as const;
  await server.check({ action: { ...action, arguments: { to: 'ann' }, origins } });
  await server.check({ action: { ...action, arguments: { text: 'x'.repeat(5000) } } });
  const [large, small] = (await decisions(server)).items;
  expect(small).toMatchObject({ arguments: { to: 'ann' }, origins });
  expect(large).toMatchObject({ arguments: null, argumentsOmitted: true, origins: null });
});

test('lists pages, newest first, by agent, session, tool, decision and time', async () => {
  const server = await testServer();
  await server.policy({ match: { tools: ['delete'] } });
  for (let number = 0; number < 5; number += 1) {
    await server.check({
      agentId: number % 2 === 0 ? 'even' : 'odd',
      sessionId: `s-${number}`,
      action: { ...action, toolName: number === 4 ? 'delete' : 'read' },
    });
  }
  const first = await decisions(server, { limit: '2' });
  const second = await decisions(server, { limit: '2', cursor: first.nextCursor as string });
  const third = await decisions(server, { limit: '2', cursor: second.nextCursor as string });
  const all = [first, second, third].flatMap(({ items }) => items);
  expect(all.map(({ sessionId }) => sessionId)).toEqual(['s-4', 's-3', 's-2', 's-1', 's-0']);
  expect(third.nextCursor).toBeNull();
  const sessions = async (query: Readonly<Record<string, string>>) =>
    (await decisions(server, query)).items.map(({ sessionId }) => sessionId);
  expect(await sessions({ agentId: 'odd' })).toEqual(['s-3', 's-1']);
  expect(await sessions({ sessionId: 's-2' })).toEqual(['s-2']);
  expect(await sessions({ toolName: 'delete' })).toEqual(['s-4']);
  expect(await sessions({ decision: 'deny' })).toEqual(['s-4']);
  expect(await sessions({ until: all[2]?.decidedAt as string })).not.toContain('s-4');
  expect(await sessions({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
});

test('rejects a cursor of other filters, unknown parameters and keys without the scope', async () => {
  const server = await testServer();
  await server.check();
  await server.check();
  const { nextCursor } = await decisions(server, { limit: '1' });
  const reused = await request(server, { limit: '1', cursor: nextCursor as string, agentId: 'other' });
  expect((await readError(reused)).details[0]).toMatchObject({
    path: 'query.cursor',
    code: 'invalid_cursor',
  });
  for (const query of [{ since: 'yesterday' }, { limit: '0' }, { tool: 'refund' }, { decision: 'maybe' }]) {
    const refused = await readError(await request(server, query));
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    expect(refused.details[0]?.path).toBe(`query.${Object.keys(query)[0]}`);
  }
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'agent',
    scopes: ['ingest'],
  });
  expect((await readError(await request(server.as(apiKey)))).code).toBe('PERMISSION_DENIED');
});

test('shows a tenant only its own decisions', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.tenants.create('other');
  const other = server.as((await admin.keys.create('other', { name: 'k' })).apiKey);
  await Promise.all([server.check({ agentId: 'mine' }), other.check({ agentId: 'theirs' })]);
  expect((await decisions(server)).items.map(({ agentId }) => agentId)).toEqual(['mine']);
  expect((await decisions(other)).items.map(({ agentId }) => agentId)).toEqual(['theirs']);
});

test('keeps each of many concurrent decisions once', async () => {
  const server = await testServer();
  const agents = Array.from({ length: 300 }, (_, number) => `agent-${number}`);
  await Promise.all(agents.map((agentId) => server.check({ agentId })));
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: PolicyDecisionPage = await decisions(server, { limit: '200', ...(cursor && { cursor }) });
    seen.push(...page.items.map(({ agentId }) => agentId));
    cursor = page.nextCursor;
  }
  expect(seen.sort()).toEqual(agents.sort());
});

test('keeps a decision whose server is killed after the response', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-decisions-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const apiKey = newApiKey('test');
  const options = { database: join(folder, 'a.db'), docs: false, apiKey };
  const child = await ChildServer.start(options);
  atTestEnd(() => child.kill());
  const response = await fetch(new URL('/v1/policies/check', child.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agentId: 'billing', action }),
  });
  await child.kill();
  expect(response.status).toBe(200);
  const server = (await testServer(options)).as(apiKey);
  expect((await decisions(server)).items).toMatchObject([{ agentId: 'billing' }]);
});

test('deletes decisions past their own retention, and counts them as freed', async () => {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', ({ db }) => ensureTenant(db, 'one'));
  const metrics = new Metrics(() => 0);
  const log = new DecisionLog({ storage, quotas: {}, isOn: true, maxQueued: 10, metrics });
  const check = { agentId: 'billing', action };
  const response = { decision: 'allow', decidedBy: null, matched: [], pendingActionId: null } as never;
  const set = { version: 1, policies: [], watched: new WatchedCalls([]), wanted: new Set<never>() };
  await log.keep(decisionRow({ tenantId, check, response, set, isDryRun: false, durationMs: 1 }));
  const kept = () =>
    storage.read(tenantId, async (db) => [
      (await listPolicyDecisions(db, { tenantId, filters: {}, limit: 10 })).rows.length,
      (await readQuotaUsage(db, tenantId, {}, Date.now())).decisions.used,
    ]);
  await deleteExpiredData(storage, Date.now() + 182 * dayMs);
  expect(await kept()).toEqual([1, 1]);
  await deleteExpiredData(storage, Date.now() + 184 * dayMs);
  expect(await kept()).toEqual([0, 0]);
});

test('deletes the decisions about a deleted session', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await server.check({ sessionId: 's-1' });
  await server.record({ sessionId: 's-1' });
  await server.check({ sessionId: 's-2' });
  await admin.sessions.delete(server.tenant, 's-1', { erasure: 'Request 1' });
  expect((await decisions(server)).items.map(({ sessionId }) => sessionId)).toEqual(['s-2']);
});

test('responds without keeping a decision when the quota is used up', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.tenants.setQuota(server.tenant, { decisions: 2 });
  for (let number = 0; number < 4; number += 1)
    expect(await server.check()).toMatchObject({ decision: 'allow' });
  expect((await decisions(server)).items).toHaveLength(2);
  expect((await admin.tenants.quota(server.tenant)).decisions).toEqual({ used: 2, max: 2 });
});
