import { Readable } from 'node:stream';
import { Backtest, type BacktestResult } from '@actlog/policy';
import type { PolicyDecision, PolicyDecisionPage } from '@actlog/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TenantTurns } from '../src/lib/tenant-turns.ts';
import { openStorage } from '../src/open-storage.ts';
import { PolicySets } from '../src/policy/policy-set.ts';
import { backtestsRoute } from '../src/server-api/backtests.ts';
import { storedEvents } from '../src/storage/event-reader.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { readError, type TestServer, testServer } from './test-server.ts';

const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };

function request(server: TestServer, body: unknown): Promise<Response> {
  return fetch(new URL('/server/v1/backtests', server.server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function backtest(server: TestServer, body: unknown): Promise<BacktestResult> {
  const response = await request(server, body);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/x-ndjson');
  const lines = (await response.text()).trim().split('\n');
  return (JSON.parse(lines.at(-1) as string) as { result: BacktestResult }).result;
}

async function decisionsOf(server: TestServer): Promise<PolicyDecision[]> {
  const all: PolicyDecision[] = [];
  let cursor: string | null = '';
  do {
    const url = new URL('/server/v1/decisions?limit=200', server.server.url);
    if (cursor) url.searchParams.set('cursor', cursor);
    const response = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
    const page = (await response.json()) as PolicyDecisionPage;
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all.reverse();
}

test('tries a draft together with the active policies', async () => {
  const server = await testServer();
  const live = await server.policy({ name: 'no deletions', match: { tools: ['delete'] } });
  for (const toolName of ['read', 'refund', 'refund', 'delete']) {
    await server.check({ agentId: 'billing', action: { ...action, toolName } });
  }
  const draft = { name: 'refunds', effect: 'require_approval', match: { tools: ['refund'] } };
  const examples = (await decisionsOf(server))
    .filter(({ toolName }) => toolName === 'refund')
    .map(({ id }) => id);
  expect(await backtest(server, { policies: [draft] })).toEqual({
    decisions: 4,
    unchanged: 2,
    changed: 2,
    cannotTell: 0,
    changes: [
      {
        agentId: 'billing',
        toolName: 'refund',
        from: 'allow',
        to: 'require_approval',
        policyId: 'draft_0',
        count: 2,
        examples,
      },
    ],
  });
  expect(await backtest(server, { policies: [draft], mode: 'replace' })).toMatchObject({ changed: 3 });
  const milder = { name: 'no deletions', effect: 'deny', mode: 'log_only', match: { tools: ['delete'] } };
  expect((await backtest(server, { policies: [milder] })).changes).toMatchObject([
    { toolName: 'delete', from: 'deny', to: 'allow' },
  ]);
  expect((await server.ok('policies.get', { id: live.id })).version).toBe(1);
});

test('counts what cannot be told, and limits the time', async () => {
  const server = await testServer();
  await server.check({ action: { ...action, arguments: { amount: 700 } } });
  await server.check({ action: { ...action, arguments: { amount: 7 } } });
  await server.check();
  const policies = [{ name: 'large', effect: 'deny', condition: 'args.amount > 100' }];
  expect(await backtest(server, { policies })).toMatchObject({ changed: 1, unchanged: 1, cannotTell: 1 });
  const later = new Date(Date.now() + 1000).toISOString();
  expect(await backtest(server, { policies, since: later })).toMatchObject({ decisions: 0 });
  expect(await backtest(server, { policies, until: '2020-01-01T00:00:00Z' })).toMatchObject({ decisions: 0 });
});

test('rejects drafts that could not be created, and keys that may not change policies', async () => {
  const server = await testServer();
  const good = { name: 'good', effect: 'deny' };
  for (const [policies, path] of [
    [[], 'policies'],
    [[good, { name: 'bad', effect: 'forbid' }], 'policies.1.effect'],
    [[good, { ...good, condition: 'args.amount >' }], 'policies.1.condition'],
    [[{ ...good, approval: { timeoutSeconds: 60, onTimeout: 'deny' } }], 'policies.0.approval'],
  ] as const) {
    const refused = await readError(await request(server, { policies }));
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    expect(refused.details[0]?.path).toBe(path);
  }
  const { admin } = server.server;
  await admin.tenants.setQuota(server.tenant, { policyCost: 1 });
  const costly = await readError(await request(server, { policies: [good] }));
  expect(costly.details[0]).toMatchObject({ path: 'policies', code: 'too_costly' });
  const { apiKey } = await admin.keys.create(server.tenant, { name: 'reader', scopes: ['read'] });
  expect((await readError(await request(server.as(apiKey), { policies: [good] }))).code).toBe(
    'PERMISSION_DENIED',
  );
});

test('runs one backtest of a tenant at a time, and forgets that of a caller who left before its first line', async () => {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', ({ db }) => ensureTenant(db, 'one'));
  const parts = {
    storage,
    events: storedEvents(storage),
    quotas: {},
    policySets: new PolicySets(),
    tenantTurns: new TenantTurns(1),
  };
  const route = backtestsRoute(parts);
  const start = (left: AbortSignal) =>
    route.handle({
      caller: { tenantId },
      body: { policies: [{ name: 'p', effect: 'deny' }] },
      disconnected: () => left,
    } as never) as Promise<AsyncIterable<string>>;
  await start(AbortSignal.abort());
  const leaving = new AbortController();
  await start(leaving.signal);
  await expect(start(new AbortController().signal)).rejects.toMatchObject({ code: 'OVERLOADED' });
  leaving.abort();
  const lines = await start(new AbortController().signal);
  expect(await Readable.from(lines).toArray()).toEqual([expect.stringContaining('"decisions":0')]);
  await start(new AbortController().signal);
});

const patterns = fc.subarray(['refund', 'read', 're*', 'delete'], { minLength: 1 });
const policyFields = fc.record(
  {
    effect: fc.constantFrom('allow', 'deny', 'require_approval'),
    mode: fc.constantFrom('enforce', 'log_only'),
    priority: fc.integer({ min: -2, max: 2 }),
    match: fc.record(
      { tools: patterns, agents: fc.constantFrom(['a'], ['b', 'c*'], ['*']) },
      { requiredKeys: [] },
    ),
    condition: fc.constantFrom(
      'args.amount > 10',
      "environment == 'prod'",
      "origins.any('tool')",
      "args.to.startsWith('x') || args.amount < 3",
      "session.count('re*') >= 2",
      "session.sum('refund', 'amount', duration('24h')) > 12.0",
      "session.started('delete', duration('1h')) && !session.called('read')",
      "session.failed('refund') || session.calledAfter('read', 'delete')",
      "session.count(action.toolName, {'to': args.to}) > 0",
      'session.untrusted()',
      'agent.firstUse()',
    ),
    rate: fc.record({
      max: fc.integer({ min: 1, max: 3 }),
      windowSeconds: fc.constant(86_400),
      per: fc.constantFrom('agent', 'session', 'tenant'),
    }),
  },
  { requiredKeys: ['effect'] },
);
const checks = fc.record(
  {
    agentId: fc.constantFrom('a', 'b', 'c1'),
    sessionId: fc.constantFrom('s', 't'),
    environment: fc.constantFrom('prod', 'dev'),
    action: fc.record(
      {
        toolName: fc.constantFrom('refund', 'read', 'delete'),
        argumentsHash: fc.constantFrom('sha256:aa', 'sha256:bb'),
        arguments: fc.record(
          { amount: fc.integer({ min: 0, max: 20 }), to: fc.constantFrom('x', 'y') },
          { requiredKeys: [] },
        ),
        origins: fc.constantFrom(
          { amount: { from: 'tool', toolName: 'read' } },
          { amount: { from: 'user' } },
        ),
      },
      { requiredKeys: ['toolName', 'argumentsHash'] },
    ),
    isDry: fc.boolean(),
  },
  { requiredKeys: ['agentId', 'action'] },
);

test('replays the policies that were live to the decisions that were live', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(policyFields, { maxLength: 6 }),
      fc.array(checks, { minLength: 1, maxLength: 25 }),
      async (policies, bodies) => {
        const server = await testServer();
        const live = [];
        for (const [index, fields] of policies.entries()) {
          live.push(await server.policy({ name: `p${index}`, ...(fields as object) }));
        }
        for (const { isDry, ...body } of bodies) {
          number += 1;
          const named = { ...body, actionId: `action-${number}` } as object;
          await server.check(named, isDry ? { prefer: 'dry-run' } : {});
        }
        const readsUntrusted = (toolName: string) => toolName === 'read';
        const replayed = new Backtest(
          live.map(
            ({
              id,
              status: _s,
              createdAt: _c,
              updatedAt: _u,
              archivedAt: _a,
              version: _v,
              ...definition
            }) => ({
              id,
              definition,
            }),
          ),
          { readsUntrusted },
        );
        for (const past of await decisionsOf(server)) {
          expect({ id: past.id, decision: replayed.add({ ...past, ended: null }).decision }).toEqual({
            id: past.id,
            decision: past.decision,
          });
        }
        expect(replayed.result()).toMatchObject({ decisions: bodies.length, changed: 0 });
      },
    ),
    { numRuns: 15 },
  );
});
