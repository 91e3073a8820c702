import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Matches } from '../src/policy/matching.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

/** Condition of a policy that costs 14 with it and 2 without. */
const condition = 'args.amount > 500';

test('refuses a policy beyond the budget until another one is archived', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.tenants.setQuota(server.tenant, { policyCost: 30 });
  const { id } = await server.policy({ condition });
  await server.policy({ condition });
  const body = { name: 'third', effect: 'deny', condition };
  const refused = await server.refused('policies.create', { body });
  expect(refused).toMatchObject({
    status: 429,
    code: 'RATE_LIMITED',
    details: [{ path: '', code: 'quota_exceeded', message: 'exceeds the quota policyCost' }],
  });
  expect(refused.message).toMatch(
    /^The policy costs 14 and the other active policies cost 28, .* budget of 30\. .* archive another policy, .* quota policyCost\.$/,
  );
  expect(Number(refused.headers.get('retry-after'))).toBe(3600);
  expect((await admin.tenants.quota(server.tenant)).policyCost).toEqual({ used: 28, max: 30 });
  const metrics = await (await fetch(`${server.server.url}/metrics`)).text();
  expect(metrics).toContain('actlog_quota_refusals_total{quota="policyCost"} 1\n');
  await server.ok('policies.archive', { id });
  await server.ok('policies.create', { body });
  await admin.tenants.setQuota(server.tenant, { policyCost: 42 });
  await server.policy({ condition });
});

test('refuses a change only if it makes a policy costlier than the budget allows', async () => {
  const server = await testServer();
  await server.server.admin.tenants.setQuota(server.tenant, { policyCost: 24 });
  const { id } = await server.policy();
  const other = await server.policy({ condition });
  const refused = await server.refused('policies.update', { id, body: { condition } });
  expect(refused).toMatchObject({ status: 429, details: [{ code: 'quota_exceeded' }] });
  expect(refused.message).toContain('The policy costs 14 and the other active policies cost 14');
  expect((await server.ok('policies.get', { id })).condition).toBeNull();
  await server.ok('policies.update', { id, body: { match: { tools: ['a'] } } });
  await server.ok('policies.update', { id: other.id, body: { condition: null } });
  await server.ok('policies.update', { id, body: { condition } });
});

test('keeps policies beyond a lowered budget, or of an older release, in force', async () => {
  const server = await testServer();
  const { admin } = server.server;
  const { id } = await server.policy({ condition });
  await admin.tenants.setQuota(server.tenant, { policyCost: 1 });
  expect(await server.check()).toMatchObject({ decision: 'deny', decidedBy: id });
  await server.ok('policies.update', { id, body: { name: 'renamed', priority: 5 } });
  expect((await server.refused('policies.create', { body: { name: 'p', effect: 'deny' } })).status).toBe(429);
  expect((await admin.tenants.quota(server.tenant)).policyCost).toEqual({ used: 14, max: 1 });
});

test('stores exactly as many concurrent policies on two servers as the budget allows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-budget-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = {
    ...(await withTestDatabase({ database: join(folder, 'budget.db') })),
    apiKey: newApiKey('test'),
  };
  const servers = [await testServer(options), await testServer(options)] as [TestServer, TestServer];
  await servers[0].server.admin.tenants.setQuota('default', { policyCost: 14 * 3 });
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (servers[index % 2] as TestServer).send('policies.create', {
        body: { name: `p${index}`, effect: 'deny', condition },
      }),
    ),
  );
  const statuses = responses.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 201, 201, ...Array.from({ length: 9 }, () => 429)]);
});

test('has room for a thousand ordinary policies by default', async () => {
  const server = await testServer();
  await server.policy({
    match: { agents: ['billing-*'], tools: ['refund_*', 'charge_card'], environments: ['prod'] },
    condition: 'has(args.amount) && double(args.amount) > 500.0',
    message: 'A person looks at amounts over 500 EUR first.',
  });
  const { used, max } = (await server.server.admin.tenants.quota(server.tenant)).policyCost;
  expect(used * 1000).toBeLessThan((max ?? 0) / 5);
});

test('evaluates expensive policies outside transactions, once', async () => {
  const finish = vi.spyOn(Matches.prototype, 'finish');
  atTestEnd(async () => finish.mockRestore());
  const server = await testServer();
  const list = Array.from({ length: 490 }, () => 'a');
  const action = { toolName: 'refund', argumentsHash: 'h', arguments: { list } };
  const ids: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const costly = `args.list.exists(x, x > 1 || x > 2 || x == "${index % 2 ? 'a' : 'b'}")`;
    ids.push((await server.policy({ mode: 'log_only', condition: costly })).id);
  }
  const { id } = await server.policy({ effect: 'require_approval' });
  const response = await server.check({ action });
  expect(response).toMatchObject({ decision: 'require_approval', decidedBy: id });
  const matched = response.matched.map(({ policyId }) => policyId);
  // A comprehension continues after an error; without a result, the condition of a denying policy counts as met.
  expect(new Set(matched)).toEqual(new Set([...ids, id]));
  expect(finish).toHaveBeenCalledTimes(1);
});
