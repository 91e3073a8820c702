import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestService } from '../test-service.ts';
import { PolicyFolder, refunds } from './policy-folder.ts';

let service: TestService;

beforeEach(async () => {
  service = await TestService.start();
});

afterEach(() => service.close());

function folderOf(files: Readonly<Record<string, string>>): PolicyFolder {
  return new PolicyFolder(files, service.env);
}

/** Returns the active policies of the service by name. */
async function active(): Promise<Map<string | undefined, Record<string, unknown>>> {
  const policies = await service.client.policies.list({ status: 'active' }).toArray();
  return new Map(policies.map((policy) => [policy.name, { ...policy }]));
}

it('plans, creates, and has nothing to do at the second run', async () => {
  const folder = folderOf({ 'policies/refunds.yaml': refunds });
  const plan = await folder.run('plan');
  expect(plan).toMatchObject({ stderr: '', exitCode: 0 });
  expect(plan.stdout).toMatch(/^\+ Large refunds need a person\n {4}effect +"require_approval"$/m);
  expect(plan.stdout).toMatch(/^ {4}match\.tools +\["refund\*"\]$/m);
  expect(plan.stdout).toMatch(/^Plan: 2 to create, 0 to change, 0 to archive, 0 unchanged\.$/m);
  expect(await active()).toEqual(new Map());

  const applied = await folder.run('apply', '--yes');
  expect(applied).toMatchObject({ stderr: '', exitCode: 0 });
  expect(applied.stdout).toMatch(/^✓ created No deletions\n\nApplied 2 of 2 changes\.$/m);
  const before = await active();
  expect(before.get('No deletions')).toMatchObject({ effect: 'deny', message: 'Ask a person.' });

  const again = await folder.run('apply', '--json');
  expect(again.exitCode).toBe(0);
  expect(JSON.parse(again.stdout)).toEqual({ applied: [], notApplied: [], unchanged: 2 });
  expect(await active()).toEqual(before);
});

it('changes the fields that differ, and removes those that the file does not have', async () => {
  const folder = folderOf({ 'policies/refunds.yaml': refunds });
  await folder.run('apply', '--yes');
  folder.write(
    'policies/refunds.yaml',
    refunds
      .replace('amount > 500', 'amount > 900')
      .replace(
        '{ timeoutSeconds: 900, onTimeout: deny, singleUse: true }',
        '{ timeoutSeconds: 60, onTimeout: deny }',
      )
      .replace(', environments: [production]', '')
      .replace('    message: Ask a person.\n', '    rate: { max: 3, windowSeconds: 60, per: agent }\n'),
  );
  const { stdout } = await folder.run('plan');
  expect(stdout).toMatch(/^~ Large refunds need a person {2}\(pol_\w+\)$/m);
  expect(stdout).toMatch(/^ {4}condition +"args.amount > 500" → "args.amount > 900"$/m);
  expect(stdout).toMatch(/^ {4}approval.singleUse +true → false$/m);
  expect(stdout).toMatch(/^ {4}match.environments +\["production"\] → null$/m);
  expect(stdout).toMatch(/^ {4}message +"Ask a person." → null$/m);
  const { stdout: json } = await folder.run('plan', '--json');
  expect(JSON.parse(json).changes).toMatchObject([
    {
      action: 'change',
      patch: { condition: 'args.amount > 900', approval: { timeoutSeconds: 60, singleUse: false } },
      file: 'policies/refunds.yaml',
      line: 2,
    },
    { patch: { match: { environments: null }, message: null, rate: { max: 3 } } },
  ]);
  expect((await folder.run('apply', '--yes')).exitCode).toBe(0);
  const policies = await active();
  expect(policies.get('Large refunds need a person')).toMatchObject({
    condition: 'args.amount > 900',
    approval: { timeoutSeconds: 60, onTimeout: 'deny', singleUse: false },
    version: 2,
  });
  expect(policies.get('No deletions')).toMatchObject({
    match: { tools: ['delete_*'] },
    message: null,
    rate: { max: 3, windowSeconds: 60, per: 'agent' },
  });
  expect((await folder.run('plan', '--exit-code')).exitCode).toBe(0);
  folder.write('policies/refunds.yaml', refunds);
  await folder.run('apply', '--yes');
  expect((await active()).get('No deletions')).toMatchObject({ rate: null, message: 'Ask a person.' });
});

it('archives policies that are in no file only with --prune', async () => {
  const old = await service.client.policies.create({ name: 'Old', effect: 'deny' });
  const folder = folderOf({ 'policies/refunds.yaml': refunds });
  const kept = await folder.run('apply', '--yes');
  expect(kept.stdout).toContain('1 active policy is in no file and will stay; --prune archives it.');
  expect((await service.client.policies.get(old.id)).status).toBe('active');
  const plan = await folder.run('plan', '--prune');
  expect(plan.stdout).toContain(`- Old  (${old.id})`);
  await folder.run('apply', '--prune', '--yes');
  expect((await service.client.policies.get(old.id)).status).toBe('archived');
  folder.write('policies/refunds.yaml', 'policies: []');
  await folder.run('apply', '--prune', '--yes');
  expect(await active()).toEqual(new Map());
});

it('exits with 2 for planned changes, 0 for none, and never with 2 for an error', async () => {
  const folder = folderOf({ 'policies/refunds.yaml': refunds });
  expect((await folder.run('plan', '--exit-code')).exitCode).toBe(2);
  expect((await folder.run('plan')).exitCode).toBe(0);
  await folder.run('apply', '--yes');
  expect((await folder.run('plan', '--exit-code')).exitCode).toBe(0);
  const [changed] = await service.client.policies.list().toArray();
  await service.client.policies.update(String(changed?.id), { mode: 'log_only' });
  const drift = await folder.run('plan', '--exit-code');
  expect(drift.exitCode).toBe(2);
  expect(drift.stdout).toMatch(/^ {4}mode +"log_only" → "enforce"$/m);
  expect((await folder.run('plan', '--exit-code', 'missing.yaml')).exitCode).toBe(1);
  expect((await folder.run('plan', '--exit-code', '--prun')).exitCode).toBe(1);
  expect((await folder.run('plan', 'missing.yaml')).exitCode).toBe(2);
  const nowhere = ['--base-url', 'http://127.0.0.1:1'];
  expect((await folder.run('plan', '--exit-code', ...nowhere)).exitCode).toBe(3);
});

it('names both ids when two active policies have the name', async () => {
  const one = await service.client.policies.create({ name: 'No deletions', effect: 'deny' });
  const two = await service.client.policies.create({ name: 'No deletions', effect: 'allow' });
  const folder = folderOf({ 'policies/refunds.yaml': refunds });
  for (const args of [['plan'], ['apply', '--yes'], ['pull']]) {
    const { stderr, exitCode } = await folder.run(...args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('2 active policies with the name "No deletions"');
    expect(stderr).toContain(one.id);
    expect(stderr).toContain(two.id);
  }
  folder.write('policies/refunds.yaml', 'policies: [{ name: Other, effect: deny }]');
  expect((await folder.run('plan')).exitCode).toBe(0);
});

it('stops at the first failure, and says what was done and what was not', async () => {
  await service.server.admin.tenants.setQuota('default', { policies: 1 });
  const folder = folderOf({
    'policies/a.yaml': refunds,
    'policies/b.yaml': '[{ name: Third, effect: deny }]',
  });
  const { stdout, stderr, exitCode } = await folder.run('apply', '--yes');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^✓ created Large refunds need a person\n\nApplied 1 of 3 changes\.$/m);
  expect(stderr).toMatch(/^✗ not created: No deletions\n✗ not created: Third$/m);
  expect(stderr).toMatch(/^error: policies\/a\.yaml:7:5: The policy "No deletions" was not created: /m);
  const json = JSON.parse((await folder.run('apply', '--yes', '--json')).stdout);
  expect(json).toMatchObject({ applied: [], notApplied: [{ name: 'No deletions' }, { name: 'Third' }] });
});

it('compares with all pages of policies', async () => {
  const policies = Array.from({ length: 201 }, (_, index) => ({ name: `policy ${index}`, effect: 'allow' }));
  const folder = folderOf({ 'policies/many.json': JSON.stringify(policies) });
  expect((await folder.run('apply', '--yes')).stdout).toContain('Applied 201 of 201 changes.');
  expect((await folder.run('plan', '--exit-code')).stdout).toBe('Nothing to do: 201 unchanged.\n');
});
