import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PolicyFolder, refunds } from './policy-folder.ts';

it('reports every problem of a file with line and column', async () => {
  const folder = new PolicyFolder({
    'policies/a.yaml': `policies:
  - name: a
    effect: forbid
  - name: b
    effekt: deny
tests:
  - action: { tool: x, args: {} }
    decision: allow
`,
  });
  const { stderr, exitCode } = await folder.run('test');
  expect(exitCode).toBe(2);
  expect(stderr.trimEnd().split('\n')).toEqual([
    'error: The policy files have problems:',
    expect.stringMatching(/^ {2}policies\/a\.yaml:3:13: policies\.0\.effect: Invalid option: expected/),
    expect.stringMatching(/^ {2}policies\/a\.yaml:4:5: policies\.1\.effect: /),
    '  policies/a.yaml:5:5: policies.1.effekt: is an unknown field; check its spelling or leave it out',
    '  policies/a.yaml:7:24: tests.0.action.args: is an unknown field; check its spelling or leave it out',
  ]);
});

it.each([
  [
    'a plain condition',
    'a.yaml',
    '- {name: a, effect: deny}\n- name: b\n  effect: deny\n  condition: args.x > 1 && HERE\n',
  ],
  [
    'a literal block',
    'a.yaml',
    '- name: b\n  effect: deny\n  condition: | # args.x > 1 && HEX\n    args.x > 1 &&\n      HERE > 2\n',
  ],
  [
    'a folded block',
    'a.yaml',
    '- name: b\n  effect: deny\n  condition: >-\n    args.x > 1 &&\n    HERE > 2\n',
  ],
  ['single quotes', 'a.yaml', "- name: b\n  effect: deny\n  condition: 'args.x == ''it'' && HERE'\n"],
  [
    'JSON with escapes and tabs',
    'a.json',
    '[\n\t{"name": "b", "effect": "deny", "condition": "args.x == \\"q\\" && HERE"}\n]',
  ],
])('finds a problem of a condition in %s', async (_title, file, text) => {
  const before = text.slice(0, text.indexOf('HERE')).split('\n');
  const folder = new PolicyFolder({ [file]: text });
  const { stderr, exitCode } = await folder.run('plan', file);
  expect(exitCode).toBe(2);
  const column = String(before.at(-1)).length + 1;
  expect(stderr).toBe(`error: ${file}:${before.length}:${column}: condition: Unknown variable: HERE\n`);
});

it.each([
  ['a syntax error', 'policies:\n  - {name: a', /^error: a\.yaml:2:\d+: .*}\n$/],
  [
    'a field that is given twice',
    'policies: []\npolicies: []\n',
    /^error: a\.yaml:2:1: Map keys must be unique\n$/,
  ],
  [
    'several documents',
    'policies: []\n---\npolicies: []\n',
    /^error: a\.yaml:2:1: has more than one document/,
  ],
  ['another object', 'policy: []\n', /^error: a\.yaml:1:1: must contain an object with "policies"/],
  ['an empty file', '', /^error: a\.yaml:1:1: must contain an object with "policies"/],
  ['only tests', 'tests: []\n', /^error: There are no policies in a\.yaml: add a list "policies"\.\n$/],
  [
    'an approval of a policy that denies',
    '[{name: a, effect: deny, approval: {timeoutSeconds: 5, onTimeout: deny}}]',
    /^error: a\.yaml:1:36: approval: is allowed only with the effect require_approval\n$/,
  ],
])('rejects %s', async (_title, text, message) => {
  const folder = new PolicyFolder({ 'a.yaml': text });
  const { stderr, exitCode } = await folder.run('plan', 'a.yaml');
  expect(stderr).toMatch(message);
  expect(exitCode).toBe(2);
});

it('rejects two policies with one name, and names both places', async () => {
  const folder = new PolicyFolder({
    'policies/a.yaml': refunds,
    'policies/b.json': '[{"name":"No deletions","effect":"deny"}]',
  });
  const { stderr, exitCode } = await folder.run('plan');
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    'policies/b.json:1:10: name: another policy has the name "No deletions" (policies/a.yaml:7:11)',
  );
});

it('shows no value of a file in an error', async () => {
  const folder = new PolicyFolder({
    'a.yaml':
      'policies: [{ name: a, effect: s3cret-1, condition: 4711 }]\ntests:\n  - { action: { tool: x, arguments: s3cret-2 }, decision: s3cret-3 }\n',
  });
  const { stdout, stderr } = await folder.run('test', 'a.yaml');
  expect(stderr).toMatch(/a\.yaml:3:\d+: tests\.0\.action\.arguments: must be an object/);
  expect(stdout + stderr).not.toMatch(/s3cret|\b4711\b/);
});

it('reads folders without hidden files and node_modules, and standard input', async () => {
  const broken = 'policies: [{}]';
  const folder = new PolicyFolder({
    'policies/deep/er/a.yaml': `${refunds}tests: [{ action: { tool: x }, decision: allow }]`,
    'policies/.hidden.yaml': broken,
    'policies/node_modules/x/a.yaml': broken,
    'policies/README.md': 'text',
  });
  symlinkSync('.', join(folder.path, 'policies/circle'));
  symlinkSync('deep/er/a.yaml', join(folder.path, 'policies/linked.yaml'));
  const linked = await folder.run('test', 'policies');
  expect(linked.stderr).toContain('policies/linked.yaml:2:11: name: another policy has the name');
  rmSync(join(folder.path, 'policies/linked.yaml'));
  expect((await folder.run('test', 'policies', 'policies/deep')).stdout).toContain('Tests: 1 passed');
  const missing = await folder.run('test', 'policy');
  expect(missing.stderr).toContain('There is no file or folder "policy"');
  folder.write('empty/README.md', 'text');
  expect((await folder.run('test', 'empty')).stderr).toContain('has no .yaml, .yml or .json files');
});
