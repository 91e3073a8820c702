import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedAction, PolicyTrial, policyDefinition } from '@actlog/policy';
import type { PolicyCreate } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readPolicyFiles } from '../../src/policies/files/read-policy-files.ts';
import { addPack } from '../../src/policies/packs/add-pack.ts';
import { readPacks } from '../../src/policies/packs/policy-pack.ts';
import { runPolicyTests } from '../../src/policies/trial/run-policy-tests.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const packs = readPacks();

test('has a pack for each kind of work, with names of its own for all policies', () => {
  expect(packs.map(({ name }) => name)).toEqual([
    'cloud-cli',
    'coding-agents',
    'databases',
    'mail-chat',
    'mcp-servers',
    'payments',
    'shell-git',
  ]);
  const names = packs.flatMap(({ policies }) => policies);
  expect(new Set(names).size).toBe(names.length);
});

test.each(packs.map(({ name }) => name))(
  'passes the tests of the pack %s, in which each policy decides',
  async (name) => {
    for (const enforce of [false, true]) {
      const { file } = addPack(name, { folder: temporaryFolder(), enforce });
      const files = await readPolicyFiles([file]);
      const modes = new Set(files.policies.map(({ policy }) => policy.mode ?? 'enforce'));
      expect(modes).toEqual(new Set([enforce ? 'enforce' : 'log_only']));
      const { failed, neverDeciding, tests } = runPolicyTests(files);
      expect(tests.filter(({ passed }) => !passed)).toEqual([]);
      expect({ failed, neverDeciding }).toEqual({ failed: 0, neverDeciding: [] });
    }
  },
);

const fixtures = new URL('../../../risk/tests/fixtures/', import.meta.url);
const reading = ['ingest_untrusted', 'read_private', 'none'];

type Lists = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

test.each([
  ['tool-names.json', { delete: 63, payment: 25, admin: 41 }],
  ['tool-names-held-out.json', { delete: 13, payment: 2, admin: 9 }],
])('stops no tool of the public servers in %s that only reads', (list, atLeast) => {
  const policies = packs.flatMap(({ text }) => (parse(text) as { policies: PolicyCreate[] }).policies);
  const trial = new PolicyTrial(
    policies
      .filter(({ rate }) => !rate)
      .map((policy, index) => ({ id: String(index).padStart(3, '0'), definition: policyDefinition(policy) })),
  );
  const lists = JSON.parse(readFileSync(new URL(list, fixtures), 'utf8')) as Lists;
  const stopped: string[] = [];
  const counts: Record<string, number> = {};
  for (const [kind, names] of Object.values(lists).flatMap((one) => Object.entries(one))) {
    for (const toolName of names) {
      for (const name of [toolName, `mcp__server__${toolName}`]) {
        const action = { toolName: name, argumentsHash: '' };
        const { decision } = trial.check(checkedAction({ agentId: 'a', framework: 'mcp', action }));
        if (decision === 'allow') continue;
        if (reading.includes(kind)) stopped.push(name);
        else if (name === toolName) counts[kind] = (counts[kind] ?? 0) + 1;
      }
    }
  }
  expect(stopped).toEqual([]);
  for (const [kind, number] of Object.entries(atLeast)) expect(counts[kind]).toBeGreaterThanOrEqual(number);
});

test('writes a pack once as log_only, and enforces it when told', () => {
  const folder = temporaryFolder();
  const first = addPack('payments', { folder, enforce: false });
  expect(first.lines[0]).toBe('+ Payments: moving money needs a person');
  const text = readFileSync(first.file, 'utf8');
  expect(text.match(/mode: log_only/g)).toHaveLength(3);
  expect(addPack('payments', { folder, enforce: false })).toMatchObject({ isChanged: false, lines: [] });
  expect(readFileSync(first.file, 'utf8')).toBe(text);
  expect(addPack('payments', { folder, enforce: true, dryRun: true }).isChanged).toBe(true);
  expect(readFileSync(first.file, 'utf8')).toBe(text);
  addPack('payments', { folder, enforce: true });
  expect(readFileSync(first.file, 'utf8')).not.toContain('log_only');
  expect(addPack('payments', { folder, enforce: true }).isChanged).toBe(false);
});

test('upgrades what the user left alone, shows the difference, and keeps what the user changed', () => {
  const folder = temporaryFolder();
  const { file } = addPack('payments', { folder, enforce: true });
  const base = join(folder, '.packs', 'payments.yaml');
  const now = readFileSync(file, 'utf8');
  // An earlier release had other limits, no third policy, and one that is gone.
  const old = now
    .replace('args.amount > 1000000.0', 'args.amount > 500.0')
    .replace('name: "Payments: at most 20 in an hour"', 'name: Payments at night')
    .replace('decidedBy: "Payments: at most 20 in an hour"', 'decidedBy: Payments at night');
  writeFileSync(base, old);
  const mine = old
    .replace("'*create_refund*', ", '')
    .replace('effect: require_approval', 'effect: deny # as the board wants')
    .replace('policies:\n', 'policies:\n  - name: Mine\n    effect: allow\n');
  writeFileSync(file, mine);
  const { lines } = addPack('payments', { folder, enforce: false });
  const text = readFileSync(file, 'utf8');
  expect(lines).toContain('~ Payments: no amounts above 1,000,000');
  expect(lines.join('\n')).toContain(
    '- condition: has(args.amount) && type(args.amount) == double && args.amount > 500.0',
  );
  expect(lines).toContain('+ Payments: at most 20 in an hour');
  expect(lines).toContain('- Payments at night');
  expect(text).toContain('effect: deny # as the board wants');
  expect(text).toContain('- name: Mine');
  expect(text).toContain('args.amount > 1000000.0');
  expect(text.match(/log_only/g)).toHaveLength(1);
  expect(addPack('payments', { folder, enforce: false }).isChanged).toBe(false);
});

test('leaves out a policy that the user removed', () => {
  const folder = temporaryFolder();
  const { file } = addPack('databases', { folder, enforce: false });
  const text = readFileSync(file, 'utf8');
  const start = text.indexOf('  - name: "Databases: statements');
  writeFileSync(file, text.slice(0, start) + text.slice(text.indexOf('  - name: "Databases: tools')));
  expect(addPack('databases', { folder, enforce: false })).toMatchObject({ isChanged: false, lines: [] });
});

test('names the packs when there is none with the name', () => {
  expect(() => addPack('shell', { folder: temporaryFolder(), enforce: false })).toThrow(
    'There is no pack "shell": choose one of cloud-cli, coding-agents,',
  );
});
