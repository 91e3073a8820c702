import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Terminal } from '../terminal.ts';
import { TestService } from '../test-service.ts';
import { PolicyFolder, refunds } from './policy-folder.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  await service.client.policies.create({
    name: 'Zebra',
    effect: 'allow',
    description: 'Two\nlines',
    priority: 7,
  });
  await service.client.policies.create({
    name: 'Apes \u202etest',
    effect: 'deny',
    condition: 'args.x == "#1"',
  });
});

afterAll(() => service.close());

it('writes the active policies to a file that plans no change, in a stable order', async () => {
  const folder = new PolicyFolder({ 'policies/refunds.yaml': refunds }, service.env);
  await folder.run('apply', '--yes');
  for (const file of ['pulled/all.yaml', 'pulled.json']) {
    const pulled = await folder.run('pull', file);
    expect(pulled).toMatchObject({ stdout: '', stderr: `Wrote 4 policies to ${file}.\n`, exitCode: 0 });
    const plan = await folder.run('plan', file, '--prune', '--exit-code');
    expect(plan).toMatchObject({ stdout: 'Nothing to do: 4 unchanged.\n', exitCode: 0 });
  }
  const text = readFileSync(join(folder.path, 'pulled/all.yaml'), 'utf8');
  expect(text).toMatch(
    /^# yaml-language-server: \$schema=https:\/\/unpkg\.com\/actlog\/policies\.schema\.json\npolicies:\n/,
  );
  expect([...text.matchAll(/- name: (.*)/g)].map(([, name]) => name)).toEqual([
    '"Apes \\u202etest"',
    'Large refunds need a person',
    'No deletions',
    'Zebra',
  ]);
  expect(text).toMatch(/^ {4}match:\n {6}tools: \[delete_\*\]\n {6}environments: \[production\]$/m);
  expect(text).not.toMatch(/null|log_only|enforce/);
  expect((await folder.run('pull')).stdout).toBe(text);
});

it('overwrites a file with --yes, or after a question in a terminal', async () => {
  const folder = new PolicyFolder({ 'all.yaml': 'mine' }, service.env);
  const file = join(folder.path, 'all.yaml');
  const refused = await folder.run('pull', 'all.yaml');
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain('Add --yes to overwrite the file "all.yaml"');
  const asked = Terminal.actlog(['policies', 'pull', file], { columns: 200, env: service.env });
  await asked.shows('[y/N]');
  asked.type('n\r');
  expect(await asked.ended()).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await folder.run('pull', 'all.yaml', '--yes');
  expect(readFileSync(file, 'utf8')).toContain('Zebra');
});

it('asks in a terminal before it applies, and shows the plan in colors', async () => {
  const folder = new PolicyFolder({}, service.env);
  const file = join(folder.path, 'new.yaml');
  writeFileSync(file, '[{ name: New, effect: deny }]');
  const declined = Terminal.actlog(['policies', 'apply', file], { env: service.env });
  await declined.shows('Do you want to apply this change? [y/N]');
  expect(declined.raw).toContain('\u001b[32m+\u001b[39m \u001b[1mNew\u001b[22m');
  declined.type('n\r');
  await declined.shows('Nothing was changed.');
  expect(await declined.ended()).toBe(0);
  const names = async () => (await service.client.policies.list().toArray()).map(({ name }) => name);
  expect(await names()).not.toContain('New');
  const accepted = Terminal.actlog(['policies', 'apply', file], { env: service.env });
  await accepted.shows('[y/N]');
  accepted.type('y\r');
  expect(await accepted.ended()).toBe(0);
  expect(await names()).toContain('New');
  const piped = await folder.run('apply', 'new.yaml', '--prune');
  expect(piped.exitCode).toBe(2);
  expect(piped.stderr).toMatch(/Add --yes to apply these \d+ changes/);
});
