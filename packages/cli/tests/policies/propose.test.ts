import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventInput, PolicyCheck } from '@actlog/client';
import type { Decide, PolicyCreate } from '@actlog/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readPolicyFiles } from '../../src/policies/files/read-policy-files.ts';
import { runPolicyTests } from '../../src/policies/trial/run-policy-tests.ts';
import { actlog } from '../command-line.ts';
import { TestService } from '../test-service.ts';
import { PolicyFolder } from './policy-folder.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

interface Call extends Partial<Omit<PolicyCheck, 'action'>> {
  readonly tool: string;
  readonly agent: string;
  /** Status of the recorded event; null for a call without one. */
  readonly status?: number | null;
  /** `true` for a guard that observes; null for a call that is not checked. */
  readonly observes?: boolean | null;
}

/** Makes a call as a recorder with a guard does: a check, and an event with the id of its action. */
async function call({ tool: toolName, agent: agentId, status = 200, observes = true, ...fields }: Call) {
  const { sessionId = 's-1' } = fields;
  const eventId = randomUUID();
  const action = { toolName, argumentsHash: 'sha256:00' };
  if (observes !== null) {
    const check = { agentId, actionId: eventId, action, ...fields, sessionId };
    await service.client.policies.check(check, { dryRun: observes });
  }
  if (status === null) return;
  const payload = { ...action, responseStatus: status };
  const event = { eventId, agentId, sessionId, category: 'tool_api', payload };
  await service.client.events.create(event as EventInput);
}

interface File {
  readonly text: string;
  readonly policies: readonly PolicyCreate[];
}

/** Proposes to a file, reads it, and runs its tests. */
async function proposed(agent: string, ...args: string[]) {
  const folder = new PolicyFolder({}, service.env);
  const ended = await folder.run('propose', '--agent', agent, '--out', 'policies/file.yaml', ...args);
  expect(ended).toMatchObject({ exitCode: 0 });
  const path = join(folder.path, 'policies/file.yaml');
  const text = readFileSync(path, 'utf8');
  const { failed, neverDeciding } = runPolicyTests(await readPolicyFiles([path]));
  expect({ failed, neverDeciding }).toEqual({ failed: 0, neverDeciding: [] });
  const file: File = { text, policies: (parse(text) as File).policies };
  return { ...ended, ...file, folder, path };
}

/** Returns the tools of the policies with an effect. */
function toolsOf({ policies }: File, effect = 'allow'): string[] {
  return policies.flatMap((policy) => (policy.effect === effect ? [...(policy.match?.tools ?? [])] : []));
}

test('allows exactly what the agent called, denies all else, and decides nothing until it is enforced', async () => {
  for (const session of ['a', 'b', 'c']) {
    for (const tool of ['search', 'fetch']) await call({ tool, agent: 'reader', sessionId: session });
  }
  await call({ tool: 'publish', agent: 'reader', sessionId: 'c' });
  await call({ tool: 'wipe', agent: 'someone-else' });
  const file = await proposed('reader');
  expect(toolsOf(file)).toEqual(['fetch', 'publish', 'search']);
  expect(file.policies.map(({ mode }) => mode)).toEqual(['log_only', 'log_only']);
  expect(file.policies.at(-1)).toMatchObject({
    effect: 'deny',
    priority: -1000,
    match: { agents: ['reader'] },
  });
  expect(file.text).toMatch(/^# Least privilege for the agent "reader", proposed from what it did\.$/m);
  expect(file.text).toMatch(/^# Calls: {4}7 in 3 sessions; policies checked 7$/m);
  expect(file.text).toMatch(/^ {8}- "search" # 3 calls in 3 sessions$/m);
  expect(file.text).toMatch(/^ {8}- "publish" # 1 call: SEEN ONCE$/m);
  expect(file.stderr).toBe('Wrote 2 policies to policies/file.yaml: its 5 tests pass.\n');
  expect(file.stdout).toMatch(/^Backtest, as if the file was enforced: \d+ decisions of all agents\.$/m);
  expect(file.stdout).toContain('0 would have been denied, 0 held.');
  expect(file.stdout).toContain('The period has few calls: 7 calls in 3 sessions.');
  const run = await file.folder.run('test', 'policies/file.yaml');
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.stdout).toContain('Tests: 5 passed');
});

test('the service decides by the enforced file as its tests say', async () => {
  await call({ tool: 'list_*', agent: 'globber' });
  await call({ tool: 'list_*', agent: 'globber', sessionId: 's-2' });
  const { folder, policies } = await proposed('globber', '--enforce');
  expect(policies.map(({ mode }) => mode)).toEqual([undefined, undefined]);
  expect((await folder.run('apply', '--yes')).exitCode).toBe(0);
  const decide = async (toolName: string, agentId = 'globber') => {
    const action = { toolName, argumentsHash: 'sha256:00' };
    return (await service.client.policies.check({ agentId, action }, { dryRun: true })).decision;
  };
  expect(await decide('list_*')).toBe('allow');
  expect(await decide('list_secrets')).toBe('deny');
  expect(await decide('list_secrets', 'reader')).toBe('allow');
});

const hostile = [
  '*',
  'drop_*',
  `quote"s 'and' \\back\\n`,
  'a: b # c',
  '- list',
  '{flow: [x]}',
  '&anchor',
  '*alias',
  '!!binary x',
  '%TAG',
  '| block',
  'null',
  'true',
  '1e3',
  '---',
  ' spaces ',
  '\u202eeteled',
  'line\u2028separator\u2029',
  'tag\u{e0041}\u{1f600}',
  'e\u0301',
  '\u00e9',
  'x'.repeat(200),
  `${'*"'.repeat(100)}`,
  '__proto__',
  'constructor',
];

test('quotes hostile names exactly, and never as a pattern', async () => {
  const agent = `hostile "agent" # \u202e${'y'.repeat(150)}`;
  for (const tool of hostile) await call({ tool, agent });
  await call({ tool: 'evil # "\u202e\u2028- x', agent, status: 500 });
  const file = await proposed(agent);
  expect(toolsOf(file).toSorted()).toEqual(hostile.toSorted());
  expect(file.text).not.toMatch(/[\u202e\u2028\u2029\u{e0041}]/u);
  expect(file.text).toMatch(/^# {3}"evil # \\"\\u202e\\u2028- x": 1 failed$/m);
  for (const { match, condition } of file.policies) {
    if (match?.tools?.some((tool) => tool.includes('*'))) expect(condition).toContain('action.toolName in [');
  }
});

test('permits no call that was denied, failed, or a question, and holds again what a person approved', async () => {
  const agent = 'careful';
  await service.hold('careful_pay');
  await service.client.policies.create({
    name: 'no drops',
    effect: 'deny',
    match: { tools: ['careful_drop'] },
  });
  await call({ tool: 'careful_drop', agent });
  await call({ tool: 'careful_drop', agent, observes: false, status: null });
  await call({ tool: 'careful_pay', agent });
  await call({ tool: 'careful_broken', agent, status: 500 });
  await call({ tool: 'careful_unchecked', agent, observes: null });
  await call({ tool: 'careful_unchecked_broken', agent, observes: null, status: 404 });
  await call({ tool: 'careful_inner', agent, parentAgentIds: ['boss'] });
  await call({ tool: 'careful_mixed', agent });
  await call({ tool: 'careful_mixed', agent, status: 500 });
  for (const toolName of ['careful_wait', 'careful_refused', 'careful_approved']) {
    await service.client.policies.create({
      name: toolName,
      effect: 'require_approval',
      match: { tools: [toolName] },
    });
    const action = { toolName, argumentsHash: 'sha256:00' };
    const check = { agentId: agent, sessionId: 's-1', actionId: randomUUID(), action };
    const { pendingActionId } = await service.client.policies.check(check);
    const decision = { careful_refused: 'deny', careful_approved: 'approve' }[toolName];
    if (decision === undefined) continue;
    const body = { decision } as Decide;
    await service.client.guardian.pendingActions.decide(String(pendingActionId), body);
  }
  const question = await actlog(['policies', 'check', 'careful_question', '--agent', agent], {
    env: service.env,
  });
  expect(question.exitCode).toBe(0);
  const file = await proposed(agent);
  expect(toolsOf(file)).toEqual(['careful_mixed', 'careful_unchecked']);
  expect(toolsOf(file, 'require_approval')).toEqual(['careful_approved', 'careful_pay']);
  expect(file.policies.find(({ effect }) => effect === 'require_approval')).toMatchObject({ priority: -999 });
  const comments = file.text.split('\n').filter((line) => line.startsWith('#   '));
  expect(comments).toEqual([
    '#   "careful_broken": 1 failed',
    '#   "careful_drop": 2 denied by a policy',
    '#   "careful_inner": 1 made inside another agent',
    '#   "careful_refused": 1 denied by a person',
    '#   "careful_unchecked_broken": 1 failed',
    '#   "careful_wait": 1 waiting for a person',
  ]);
  expect(file.text).toContain('- "careful_mixed" # 1 call: SEEN ONCE; others: 1 failed');
  expect(file.text).not.toContain('careful_question');
  // The calls that would be stopped now: the failed one, the inner one, and the question.
  expect(file.stdout).toMatch(/^3 would have been denied, 0 held\.$/m);
  expect(file.stdout).toMatch(/^1 +careful_inner +careful +allow +deny +dec_/m);
});

test('binds the tools to the environments and frameworks of their checks', async () => {
  const agent = 'placed';
  const production = { environment: 'production', framework: 'mcp' };
  await call({ tool: 'read', agent, ...production });
  await call({ tool: 'read', agent, environment: 'staging', framework: 'mcp' });
  await call({ tool: 'write', agent, environment: 'staging', framework: 'mcp' });
  await call({ tool: 'ping', agent, ...production });
  await call({ tool: 'ping', agent });
  const { policies, text } = await proposed(agent);
  const matches = policies.map(({ match }) => match);
  expect(matches).toEqual([
    { agents: [agent], frameworks: ['mcp'], environments: ['production'], tools: ['read'] },
    { agents: [agent], frameworks: ['mcp'], environments: ['staging'], tools: ['read', 'write'] },
    { agents: [agent], tools: ['ping'] },
    { agents: [agent] },
  ]);
  expect(text).toContain('denies read elsewhere');
});

test('splits more tools than a policy can list', async () => {
  const tools = Array.from({ length: 130 }, (_, index) => `tool_${String(index).padStart(3, '0')}`);
  for (const tool of tools) await call({ tool, agent: 'broad', status: null });
  const file = await proposed('broad');
  expect(toolsOf(file)).toEqual(tools);
  expect(file.policies.map(({ name }) => name)).toEqual([
    'broad: called tools',
    'broad: called tools (2)',
    'broad: nothing else',
  ]);
});

test('says that the period was cut off, and shows in the backtest what it missed', async () => {
  await call({ tool: 'old', agent: 'busy', status: null });
  for (const tool of ['new', 'newer']) await call({ tool, agent: 'busy', status: null });
  const file = await proposed('busy', '--limit', '2');
  expect(toolsOf(file)).toEqual(['new', 'newer']);
  expect(file.stdout).toContain('The period was cut off: older calls were not read');
  expect(file.text).toMatch(/^# The period was cut off/m);
  expect(file.stdout).toMatch(/^1 +old +busy +allow +deny +dec_/m);
  const events = ['one', 'two', 'three'];
  for (const tool of events) await call({ tool, agent: 'eventful', observes: null });
  const cut = await proposed('eventful', '--limit', '2');
  expect(toolsOf(cut)).toEqual(['one', 'two']);
  expect(cut.stdout).toContain('The period was cut off');
  expect((await proposed('eventful', '--limit', '3')).stdout).not.toContain('The period was cut off');
});

test('says that nothing was checked, if the agent has no guard', async () => {
  const alone = await TestService.start();
  try {
    await alone.record('s', ['search'], 'unguarded');
    const { stdout, stderr } = await actlog(['policies', 'propose', '--agent', 'unguarded'], {
      env: alone.env,
    });
    expect(toolsOf(parse(stdout) as File)).toEqual(['search']);
    expect(stderr).toContain(
      'Policies checked 0 of the 1 call, and the backtest has only those. To check all, start the agent with ACTLOG_GUARD=observe.',
    );
  } finally {
    await alone.close();
  }
});

test('prints the file on standard output and the report beside it, or all as JSON', async () => {
  await call({ tool: 'search', agent: 'printed' });
  const run = (...args: string[]) =>
    actlog(['policies', 'propose', '--agent', 'printed', ...args], { env: service.env });
  const plain = await run();
  expect(toolsOf(parse(plain.stdout) as File)).toEqual(['search']);
  expect(plain.stderr).toMatch(/^Backtest, as if the file was enforced/);
  const later = await run('--since', '2999-01-01');
  expect(later).toMatchObject({ exitCode: 2, stdout: '' });
  expect(later.stderr).toContain('no calls of the agent "printed" since 2999-01-01T00:00:00.000Z');
  const json = JSON.parse((await run('--json')).stdout);
  expect(json).toMatchObject({
    agentId: 'printed',
    calls: 1,
    checked: 1,
    sessions: 1,
    file: null,
    tools: [{ toolName: 'search', effect: 'allow', place: {}, calls: 1, sessions: 1, others: {} }],
    refused: [],
    backtest: { denied: 0, held: 0, cannotTell: 0, changes: [] },
  });
  expect(json.policies).toHaveLength(2);
  expect(json.warnings[0]).toMatch(/^The period has few calls/);
  expect(toolsOf(parse(json.text) as File)).toEqual(['search']);
});

test('denies every tool, and says so, if no call went through', async () => {
  await call({ tool: 'search', agent: 'failing', status: 500 });
  const file = await proposed('failing');
  expect(file.policies.map(({ effect }) => effect)).toEqual(['deny']);
  expect(file.stdout).toContain('No call went through, so the file denies the agent every tool.');
});

test('counts several checks of one action as one call, and as stopped if one of them stopped it', async () => {
  const agent = 'retrying';
  const eventId = randomUUID();
  const action = { toolName: 'retry', argumentsHash: 'sha256:00' };
  const check = { agentId: agent, sessionId: 's-1', actionId: eventId, action };
  await service.client.policies.create({ name: 'no retry', effect: 'deny', match: { tools: ['retry'] } });
  await service.client.policies.check(check);
  await service.client.policies.check({ ...check, actionId: eventId.toUpperCase() }, { dryRun: true });
  await call({ tool: 'retry', agent, sessionId: 's-1', status: 403, observes: null });
  const file = await proposed(agent);
  expect(toolsOf(file)).toEqual([]);
  expect(file.text).toMatch(/"retry": 1 denied by a policy, 1 failed$/m);
});

test('keeps the written file if the key may not run backtests', async () => {
  await call({ tool: 'search', agent: 'lesser' });
  const folder = new PolicyFolder({}, service.agentEnv);
  const ended = await folder.run('propose', '--agent', 'lesser', '--out', 'lesser.yaml');
  expect(ended).toMatchObject({ exitCode: 4, stdout: '' });
  expect(ended.stderr).toMatch(/^Wrote 2 policies to lesser\.yaml: its 3 tests pass\.\nerror: .*manage/);
});

test('keeps an existing file without --force, and replaces its policies with it', async () => {
  await call({ tool: 'search', agent: 'twice' });
  const { folder, path } = await proposed('twice');
  const before = readFileSync(path, 'utf8');
  await call({ tool: 'fetch', agent: 'twice' });
  const args = ['propose', '--agent', 'twice', '--out', 'policies/file.yaml'];
  const kept = await folder.run(...args);
  expect(kept).toMatchObject({ exitCode: 2 });
  expect(kept.stderr).toContain(
    '--out: the file "policies/file.yaml" exists. Add --force to overwrite it, or name another file.',
  );
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect((await folder.run(...args, '--force')).exitCode).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain('- "fetch"');
});

test.each([
  [['--agent', 'nobody'], 'the service has no calls of the agent "nobody" since'],
  [['--agent', 'a*'], 'It must not contain "*"'],
  [['--agent', 'a', '--out', 'file.json'], 'It must end in .yaml or .yml'],
  [['--agent', 'a', '--since', 'soon'], 'It must be a duration before now'],
  [[], "required option '--agent <id>' not specified"],
])('explains what is wrong with %j', async (args, message) => {
  const ended = await actlog(['policies', 'propose', ...args], { env: service.env });
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ended.stderr).toContain(message);
});
