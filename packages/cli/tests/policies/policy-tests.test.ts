import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { TestService } from '../test-service.ts';
import { PolicyFolder, refunds } from './policy-folder.ts';

const passing = `tests:
  - name: allows a small refund
    action: { tool: refund, arguments: { amount: 40 } }
    decision: allow
    decidedBy: null
  - name: holds a large refund
    action: { tool: refund_order, agent: billing, arguments: { amount: 900 } }
    decision: require_approval
    decidedBy: Large refunds need a person
  - action: { tool: delete_user, environment: production }
    decision: deny
`;

it('runs the tests of all files without a service', async () => {
  const folder = new PolicyFolder({ 'policies/a.yaml': refunds, 'policies/tests/a.yml': passing });
  const { stdout, stderr, exitCode } = await folder.run('test');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toBe(`policies/tests/a.yml
  ✓ allows a small refund
  ✓ holds a large refund
  ✓ delete_user: deny

Tests: 3 passed
`);
});

it('shows the expected and the actual decision of a failing test, and why each policy applies or not', async () => {
  const failing = `${passing}  - name: denies a deletion anywhere
    action: { tool: delete_user }
    decision: deny
  - action: { tool: refund, arguments: { amount: 900 } }
    decision: require_approval
    decidedBy: No deletions
`;
  const folder = new PolicyFolder({ 'policies/a.yaml': refunds, 'policies/b.yaml': failing });
  const { stdout, exitCode } = await folder.run('test', '--junit', 'reports/junit.xml');
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`  ✗ denies a deletion anywhere  policies/b.yaml:12:5
      expected  deny
      actual    allow, by no policy
      · No deletions: the action has no environment
      · Large refunds need a person: the tool does not match "refund*"
  ✗ refund: require_approval  policies/b.yaml:15:5
      expected  require_approval, by "No deletions"
      actual    require_approval, by "Large refunds need a person"
      · No deletions: the tool does not match "delete_*"
      • Large refunds need a person: the tool matches "refund*"; the condition holds
`);
  expect(stdout).toMatch(/^Tests: 3 passed, 2 failed$/m);
  const junit = readFileSync(join(folder.path, 'reports/junit.xml'), 'utf8');
  expect(junit).toContain('<testsuite name="policies/b.yaml" tests="5" failures="2">');
  expect(junit).toContain('name="denies a deletion anywhere" file="policies/b.yaml" line="12"><failure');
  expect(junit).toContain('message="expected deny, got allow by no policy"');
  expect(junit).toContain('message="expected require_approval by &quot;No deletions&quot;, got');
  const json = JSON.parse((await folder.run('test', '--json')).stdout);
  expect(json).toMatchObject({ passed: 3, failed: 2, tests: { length: 5 } });
  expect(json.tests[4]).toMatchObject({ passed: false, line: 15, actual: { decision: 'require_approval' } });
  const lines = (await folder.run('test', '--jsonl')).stdout.trim().split('\n');
  expect(lines).toHaveLength(5);
});

it('tests conditions on earlier calls', async () => {
  const folder = new PolicyFolder({
    'all.yaml': `policies:
  - name: approved first
    effect: deny
    match: { tools: [refund] }
    condition: '!session.called("approve", {"orderId": args.orderId}, duration("1h"))'
  - { name: no mail, effect: deny, match: { tools: [pay] }, condition: session.untrusted() }
tests:
  - action: { tool: refund, arguments: { orderId: A-7 } }
    earlierCalls: [{ tool: approve, arguments: { orderId: A-7 }, secondsAgo: 3599 }]
    decision: allow
  - action: { tool: refund, arguments: { orderId: A-7 } }
    earlierCalls: [{ tool: approve, arguments: { orderId: A-7 }, secondsAgo: 3601 }]
    decision: deny
  - action: { tool: refund, arguments: { orderId: A-7 } }
    earlierCalls: [{ tool: approve, arguments: { orderId: A-7 }, outcome: failed }]
    decision: deny
  - { action: { tool: pay, session: s-1 }, decision: allow }
  - { action: { tool: pay }, earlierCalls: [{ tool: read_inbox }], decision: deny, decidedBy: no mail }
`,
  });
  const { stdout, exitCode } = await folder.run('test', 'all.yaml');
  expect(stdout).toMatch(/^Tests: 5 passed$/m);
  expect(exitCode).toBe(0);
});

it('decides rates, origins, frameworks and log_only policies as the service does', async () => {
  const folder = new PolicyFolder({
    'all.yaml': `policies:
  - { name: limited, effect: deny, match: { tools: [mail] }, rate: { max: 2, windowSeconds: 60, per: agent } }
  - { name: from tools, effect: require_approval, condition: 'origins.to.from == "tool"', match: { tools: [send] } }
  - { name: logged, effect: deny, mode: log_only }
  - { name: frameworks, effect: deny, match: { frameworks: [lang*] } }
tests:
  - { action: { tool: mail }, earlierActions: 1, decision: allow }
  - { action: { tool: mail }, earlierActions: 2, decision: deny, decidedBy: limited }
  - { action: { tool: send, origins: { to: { from: tool } } }, decision: require_approval }
  - { action: { tool: send, origins: { to: { from: user } } }, decision: allow }
  - { action: { tool: send }, decision: require_approval, decidedBy: from tools }
  - { action: { tool: read, framework: langchain }, decision: deny, decidedBy: frameworks }
`,
  });
  const { stdout, exitCode } = await folder.run('test', 'all.yaml');
  expect(stdout).toContain('Tests: 6 passed\nPolicies that decide in no test: "logged"');
  expect(exitCode).toBe(0);
});

it('reports a test that names an unknown policy, and files without tests', async () => {
  const folder = new PolicyFolder({
    'policies/a.yaml': `${refunds}tests:\n  - action: { tool: x }\n    decision: deny\n    decidedBy: No deletion\n`,
  });
  const unknown = await folder.run('test');
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toBe('error: policies/a.yaml:14:16: decidedBy: there is no policy "No deletion"\n');
  folder.write('policies/a.yaml', refunds);
  const none = await folder.run('test');
  expect(none.exitCode).toBe(2);
  expect(none.stderr).toContain('There are no tests in these files');
});

it('decides as a service with the same policies', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.close());
  const policies = [
    { name: 'hold', effect: 'require_approval', match: { tools: ['a*'] } },
    { name: 'hold first', effect: 'require_approval', match: { tools: ['a1'] }, priority: 5 },
    {
      name: 'hold leniently',
      effect: 'require_approval',
      approval: { timeoutSeconds: 9, onTimeout: 'allow' },
    },
    { name: 'first of equals', effect: 'deny', match: { agents: ['x'] } },
    { name: 'second of equals', effect: 'deny', match: { agents: ['x*'] } },
    { name: 'large', effect: 'deny', condition: 'args.amount > 5', match: { tools: ['b'] } },
    { name: 'known', effect: 'allow', condition: 'args.amount > 5', match: { tools: ['b'] } },
    {
      name: 'limit of none',
      effect: 'deny',
      match: { tools: ['c'] },
      rate: { max: 0, windowSeconds: 60, per: 'tenant' },
    },
    { name: 'logged', effect: 'deny', mode: 'log_only' },
  ];
  const actions = ['a1', 'a2', 'b', 'c', 'd'].flatMap((tool) =>
    ['x', 'xy', 'z'].flatMap((agent) =>
      [undefined, { amount: 1 }, { amount: 9 }].map((shown) => ({
        tool,
        agent,
        ...(shown && { arguments: shown }),
      })),
    ),
  );
  const tests = actions.map((action) => ({ action, decision: 'allow' }));
  const folder = new PolicyFolder({ 'policies/all.json': JSON.stringify({ policies, tests }) }, service.env);
  await folder.run('apply', '--yes');
  const names = new Map((await service.client.policies.list().toArray()).map(({ id, name }) => [id, name]));
  const report = JSON.parse((await folder.run('test', '--json')).stdout);
  const expected = actions.map(async ({ tool, agent, ...shown }) => {
    const action = { toolName: tool, argumentsHash: 'sha256:00', ...shown };
    const check = await service.client.policies.check({ agentId: agent, action }, { dryRun: true });
    return { decision: check.decision, decidedBy: names.get(String(check.decidedBy)) ?? null };
  });
  expect(report.tests.map((test: { actual: unknown }) => test.actual)).toEqual(await Promise.all(expected));
  expect(
    new Set(report.tests.map((test: { actual: { decidedBy: string } }) => test.actual.decidedBy)).size,
  ).toBe(7);
});
