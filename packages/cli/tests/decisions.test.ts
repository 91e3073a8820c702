import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  service = await TestService.start();
  await service.client.policies.create({
    name: 'no deletions',
    effect: 'deny',
    match: { tools: ['delete'] },
  });
  for (const toolName of ['read', 'delete', 'refund', 'refund']) {
    const action = { toolName, argumentsHash: 'sha256:aa' };
    await service.client.policies.check({ agentId: 'billing', sessionId: 's-1', action });
  }
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Runs a command of `policies`. */
function policies(...args: string[]) {
  return actlog(['policies', ...args], { env: service.env });
}

function fileOf(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

it('lists decisions as a table and as JSON lines, by tool, decision and time', async () => {
  const table = await policies('decisions');
  expect(table.stdout.split('\n')[0]).toMatch(/^TIME +DECISION +TOOL +AGENT +SESSION +DECIDED BY +HELD/);
  expect(table.stdout).toMatch(/ deny +delete +billing +s-1 +no deletions \(pol_\w+\)/);
  expect(table.stdout).toMatch(/ allow +refund +billing +s-1 +no policy/);
  const denied = await policies('decisions', '--decision', 'deny', '--since', '1h', '--jsonl');
  expect(
    denied.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).toolName),
  ).toEqual(['delete']);
  expect((await policies('decisions', '--until', '1h')).stderr).toContain('There are no decisions.');
});

it('tries a policy on the past, and fails with --fail-on-change', async () => {
  const file = fileOf('refunds.json', { name: 'refunds', effect: 'deny', match: { tools: ['refund'] } });
  const { stdout, exitCode } = await policies('backtest', file);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^decisions +4$/m);
  expect(stdout).toMatch(/^different +2$/m);
  expect(stdout).toMatch(/^2 +refund +billing +allow +deny +dec_/m);
  const failed = await policies('backtest', file, '--fail-on-change', '--json');
  expect(failed.exitCode).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({ decisions: 4, changed: 2, cannotTell: 0 });
  const alone = await policies(
    'backtest',
    fileOf('list.json', { policies: [{ name: 'a', effect: 'allow' }] }),
    '--replace',
    '--json',
  );
  expect(JSON.parse(alone.stdout).changes).toMatchObject([{ toolName: 'delete', from: 'deny', to: 'allow' }]);
});

it.each([
  ['not policies', 'bad.json:1:1: must contain an object with "policies"'],
  ['{"name":"x","effect":"forbid"}', 'bad.json:1:22: effect: '],
  ['{"name":"x","effect":"deny","condition":"args.a && b"}', 'bad.json:1:52: condition: Unknown variable: b'],
])('rejects the file %s', async (content, message) => {
  const { stderr, exitCode } = await policies('backtest', fileOf('bad.json', content));
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

it('tries the policies of YAML files with tests', async () => {
  const file = fileOf(
    'refunds.yaml',
    `policies:
  - { name: refunds, effect: deny, match: { tools: [refund] } }
tests:
  - { action: { tool: refund }, decision: deny, decidedBy: refunds }
`,
  );
  const { stdout, exitCode } = await policies('backtest', file, '--json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ changed: 2 });
});

it('names the policy of a held call while it waits, and its approver later', async () => {
  const { id } = await service.client.policies.create({
    name: 'transfers',
    effect: 'require_approval',
    match: { tools: ['transfer'] },
  });
  const check = { agentId: 'bank', action: { toolName: 'transfer', argumentsHash: 'sha256:aa' } };
  const { pendingActionId } = await service.client.policies.check(check);
  const held = await policies('decisions', '--held');
  expect(held.stdout).toMatch(/ require_approval +transfer +bank +– +transfers \(pol_\w+\) +pending/);
  expect((await actlog(['guardian', 'list'], { env: service.env })).stdout).toContain(`transfers (${id})`);
  await service.client.guardian.pendingActions.decide(pendingActionId as string, { decision: 'deny' });
  const denied = await policies('decisions', '--held');
  expect(denied.stdout).toMatch(/ deny +transfer +bank +– +key_\w+, held by transfers \(pol_\w+\) +denied/);
  expect((await policies('decisions', '--no-held')).stdout).not.toContain('transfer');
  const checked = await policies('check', 'transfer', '--agent', 'bank');
  expect(checked.stdout).toContain(`transfers (${id})`);
  await service.client.policies.archive(id);
});

it('keeps every digit of the arguments of a check, a held action and a test', async () => {
  const condition = 'args.account == 1917043659912705297';
  const policy = { name: 'one account', effect: 'require_approval', condition } as const;
  const { id } = await service.client.policies.create(policy);
  const check = (account: string, ...flags: string[]) =>
    policies('check', 'pay', '--agent', 'bank', '--arguments', `{"account":${account}}`, ...flags);
  expect((await check('1917043659912705298')).stdout).toMatch(/^decision +allow/m);
  expect((await check('1917043659912705297', '--real')).stdout).toMatch(/^decision +require_approval/m);
  const held = await actlog(['guardian', 'list', '--json'], { env: service.env });
  expect(held.stdout).toContain('1917043659912705297');
  expect(held.stdout).not.toContain('1917043659912705300');
  const { items } = await service.client.guardian.pendingActions.list();
  expect(JSON.stringify(items.find(({ policyId }) => policyId === id)?.action?.arguments)).toBe(
    '{"account":1917043659912705297}',
  );
  await service.client.policies.archive(id);
  const tests = [
    { action: { tool: 'pay', arguments: { account: 0 } }, decision: 'require_approval' },
    { action: { tool: 'pay', arguments: { account: 1 } }, decision: 'allow' },
  ];
  const text = JSON.stringify({ policies: [policy], tests })
    .replace('"account":0', '"account":1917043659912705297')
    .replace('"account":1}', '"account":1917043659912705298}');
  const { stdout, exitCode } = await policies('test', fileOf('exact.json', text));
  expect({ stdout, exitCode }).toMatchObject({ exitCode: 0 });
});
