import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** Runs a command of `guardian`. */
function guardian(...args: string[]) {
  return actlog(['guardian', ...args], { env: service.env });
}

async function guardianJson(...args: string[]) {
  return JSON.parse((await guardian(...args, '--json')).stdout);
}

it('decides several actions, and shows what happened to each', async () => {
  const ids = [await service.hold('refund'), await service.hold('transfer')];
  await service.client.guardian.pendingActions.decide(String(ids[1]), { decision: 'deny' });
  const { stdout, stderr, exitCode } = await guardian('approve', ...ids, 'pac_unknown', String(ids[0]));
  expect(stdout).toMatch(/^ACTION +STATUS +AGENT +TOOL +PROBLEM/);
  expect(stdout).toMatch(new RegExp(`^${ids[0]} +approved +buyer +refund`, 'm'));
  expect(stdout).toMatch(new RegExp(`^${ids[1]} +refused .*already denied`, 'm'));
  expect(stdout).toMatch(/^pac_unknown +refused .*no such pending action/m);
  expect(stderr).toContain('2 of 3 decisions were refused.');
  expect(exitCode).toBe(1);
  const again = await guardianJson('approve', ...ids);
  expect(again).toMatchObject([
    { id: ids[0], action: { status: 'approved' }, error: null },
    { id: ids[1], action: null, error: { code: 'ALREADY_DECIDED' } },
  ]);
});

it('shows who has approved an action that needs several approvers', async () => {
  const fields = [
    '--effect',
    'require_approval',
    '--tools',
    'wire',
    '--timeout',
    '15m',
    '--on-timeout',
    'deny',
  ];
  const rules = ['--approvers', '2', '--not-requester'];
  const create = ['policies', 'create', '--name', 'two for wire', ...fields, ...rules];
  const created = await actlog([...create, '--json'], { env: service.env });
  expect(JSON.parse(created.stdout)).toMatchObject({
    approval: { requiredApprovers: 2, notRequester: true, timeoutSeconds: 900 },
  });
  const shown = await actlog(['policies', 'show', JSON.parse(created.stdout).id], { env: service.env });
  expect(shown.stdout).toMatch(/^approval +deny after 900 s, by 2 approvers, not by the requester$/m);
  const agent = { baseURL: service.server.url, apiKey: String(service.server.agentKey) };
  const { Actlog } = await import('@actlog/client');
  const check = { agentId: 'buyer', action: { toolName: 'wire', argumentsHash: 'sha256:00' } };
  const { pendingActionId } = await new Actlog(agent).policies.check(check);
  const { stdout } = await guardian('approve', String(pendingActionId));
  expect(stdout).toMatch(/^status +pending$/m);
  expect(stdout).toMatch(/^approvers +1 of 2 \(key_\w+\); not the requester$/m);
});

it('approves with a grant, lists it and revokes it', async () => {
  const held = await service.hold('mail');
  const grant = ['--grant', 'tool', '--grant-for', '30m', '--grant-uses', '5'];
  const approved = await guardianJson('approve', held, ...grant);
  expect(approved).toMatchObject({ grantId: expect.stringMatching(/^grt_/) });
  const check = {
    agentId: 'buyer',
    sessionId: 's',
    action: { toolName: 'mail', argumentsHash: 'sha256:01' },
  };
  expect(await service.client.policies.check(check)).toMatchObject({
    decision: 'allow',
    grantId: approved.grantId,
  });
  const { stdout } = await guardian('grants');
  expect(stdout).toMatch(new RegExp(`^${approved.grantId} +active +mail +tool +1 of 5 `, 'm'));
  const revoked = await guardian('revoke', approved.grantId);
  expect(revoked.stdout).toMatch(/^status +revoked$/m);
  expect((await service.client.policies.check(check)).decision).toBe('require_approval');
  expect((await guardian('grants')).stderr).toContain('There are no grants.');
  expect(await guardianJson('grants', '--all')).toMatchObject([{ id: approved.grantId, status: 'revoked' }]);
  const unknown = await guardian('revoke', 'grt_1');
  expect(unknown.stderr).toContain(
    'There is no grant "grt_1": `actlog guardian grants --all` shows the ids.',
  );
});

it('refuses the terms of a grant without a grant', async () => {
  const { stderr, exitCode } = await guardian('approve', 'pac_1', '--grant-for', '30m');
  expect(stderr).toContain('--grant-for and --grant-uses need --grant');
  expect(exitCode).toBe(2);
});

it('approves an action with changed arguments', async () => {
  const editable = [
    '--editable',
    '{"path":"amount","max":500}',
    '--editable',
    '{"path":"to","anyText":true}',
  ];
  const fields = [
    '--effect',
    'require_approval',
    '--tools',
    'pay',
    '--timeout',
    '15m',
    '--on-timeout',
    'deny',
  ];
  const create = ['policies', 'create', '--name', 'pay', ...fields, ...editable, '--json'];
  const { id: policyId } = JSON.parse((await actlog(create, { env: service.env })).stdout);
  const shown = await actlog(['policies', 'show', policyId], { env: service.env });
  expect(shown.stdout).toMatch(/^approval .*changeable: amount, to$/m);
  const action = {
    toolName: 'pay',
    argumentsHash: 'sha256:00',
    arguments: { amount: 900, to: 'ada' },
    acceptsChanges: true,
  };
  const { pendingActionId: id } = await service.client.policies.check({ agentId: 'buyer', action });
  const refused = await guardian('approve', String(id), '--set', 'amount=501');
  expect(refused.stderr).toContain('must not be above 500');
  for (const [args, problem] of [
    [[String(id), 'pac_other', '--set', 'amount=1'], 'give exactly one id'],
    [[String(id), '--set', 'amount'], 'must be a path and a value such as amount=500'],
    [[String(id), '--set', 'amount=1', '--set', 'amount=2'], 'names amount twice'],
    [[String(id), '--set', 'amount=0.30000000000000000001'], 'has more digits'],
  ] as const) {
    const { stderr, exitCode } = await guardian('approve', ...args);
    expect(stderr).toContain(problem);
    expect(exitCode).toBe(2);
  }
  const { stdout } = await guardian('approve', String(id), '--set', 'amount=400', '--set', 'to=Grace Hopper');
  expect(stdout).toMatch(/^changed +by the approver: amount = 400, to = "Grace Hopper"$/m);
  await service.client.policies.archive(policyId);
});

it('shows which arguments an approver may change', async () => {
  const editable = [
    { path: 'amount', max: 500 },
    { path: 'paths', subset: true },
  ] as const;
  const policy = await service.client.policies.create({
    name: 'pay',
    effect: 'require_approval',
    match: { tools: ['pay'] },
    approval: { timeoutSeconds: 60, onTimeout: 'deny', editable },
  });
  const { actionDetails } = await import('../src/guardian/action-columns.ts');
  const action = { toolName: 'pay', argumentsHash: 'sha256:01', arguments: { amount: 900, paths: ['a'] } };
  for (const acceptsChanges of [true, false]) {
    await service.client.policies.check({ agentId: 'buyer', action: { ...action, acceptsChanges } });
  }
  const held = await service.client.guardian.pendingActions.list({ agentId: 'buyer' }).toArray({ limit: 9 });
  const texts = held
    .filter(({ policyId }) => policyId === policy.id)
    .map((one) => actionDetails(one).find(([title]) => title === 'changeable')?.[1]);
  expect(texts).toEqual(['amount (a smaller number, at most 500), paths (some of the elements)']);
  await service.client.policies.archive(policy.id);
});
