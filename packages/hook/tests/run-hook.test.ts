import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import { afterAll, describe, expect, test } from 'vitest';
import { InnerProcess } from '../../../scripts/inner-process.ts';
import { audience, startTestIssuer } from '../../identity/tests/test-issuer.ts';
import { runHook as runHere } from '../src/run-hook.ts';
import { agentEvents, claudeEvents, newCall } from './agent-events.ts';
import { delivered, runHook, startHook } from './hook-process.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(async () => {
  await delivered();
  await service.close();
});

const { before, succeeded, sessionStart } = claudeEvents;
const newEnvironment = () => service.environment(service.newFolder());
const failClosed = ['--guard', 'enforce', '--on-unavailable', 'deny'];
const failOpen = ['--guard', 'enforce', '--on-unavailable', 'allow'];

test('prints its usage', async () => {
  const hook = new InnerProcess(() => runHere(['--help']), { env: newEnvironment(), input: '' });
  expect(await hook.exit).toEqual({ code: 0, signal: null });
  expect(hook.stdout.text).toMatch(/^Usage: actlog hook AGENT[\s\S]*claude-code, codex/);
});

describe('with an invalid command line', () => {
  test.each([
    [[], 'AGENT must be one of claude-code, codex, gemini-cli, cursor, copilot, got "".'],
    [['vim'], 'AGENT must be one of claude-code, codex, gemini-cli, cursor, copilot, got "vim".'],
    [['claude-code', 'now'], 'Unexpected argument "now": pass one agent.'],
    [['claude-code', '--guard', 'observe'], '--guard must be off or enforce, got "observe".'],
    [['claude-code', '--on-unavailable', 'ask'], '--on-unavailable must be allow or deny, got "ask".'],
    [['claude-code', '--hold-timeout', 'soon'], '--hold-timeout must be a number of seconds, got "soon".'],
    [['claude-code', '--check-timeout', '0'], '--check-timeout must be a number of seconds, got "0".'],
    [['claude-code', '--variables', '/nowhere/.env'], '--variables /nowhere/.env cannot be read (ENOENT)'],
    [['claude-code', '--guard', 'enforce'], 'guard.onUnavailable is missing'],
  ])('blocks the call and names the fix: %j', async (args, message) => {
    const { exitCode, output, stderr } = await runHook(args, before(newCall()), newEnvironment());
    expect({ exitCode, output }).toEqual({ exitCode: 2, output: undefined });
    expect(stderr).toContain(message);
  });
});

describe('with an event that cannot be read', () => {
  test.each([
    ['{"tool_input": "very-secret', /is not JSON/],
    ['[]', /must be a JSON object/],
    [JSON.stringify({ ...before(newCall()), tool_name: undefined }), /has no tool_name/],
    [JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'very-secret' }), /has no session_id/],
  ])('blocks the call only when the guard is fail-closed: %s', async (event, message) => {
    const environment = newEnvironment();
    const closed = await runHook(['claude-code', ...failClosed], event, environment);
    const open = await runHook(['claude-code', ...failOpen], event, environment);
    expect([closed.exitCode, open.exitCode]).toEqual([2, 1]);
    expect(closed.stderr).toMatch(message);
    expect(closed.stderr).not.toContain('very-secret');
  });

  test('lets the call run in Copilot, which takes any exit code for a denial', async () => {
    const args = ['copilot', '--event', 'preToolUse', ...failOpen];
    expect(await runHook(args, '[]', newEnvironment())).toMatchObject({ exitCode: 0, output: undefined });
  });
});

test('ignores events of other kinds', async () => {
  const event = { hook_event_name: 'Notification', session_id: 's', message: 'Waiting.' };
  expect(await runHook(['claude-code', ...failClosed], event, newEnvironment())).toMatchObject({
    exitCode: 0,
    output: undefined,
    stderr: '',
  });
});

test('says at the start of a session that nothing is recorded without a service', async () => {
  const { ACTLOG_API_KEY: _key, ...environment } = newEnvironment();
  const { output } = await runHook(['claude-code'], sessionStart('s'), environment);
  expect(output).toEqual({ systemMessage: 'actlog: Nothing is recorded: set ACTLOG_API_KEY.' });
  const call = newCall();
  const results = [
    await runHook(['claude-code'], before(call), environment),
    await runHook(['claude-code'], succeeded(call), environment),
  ];
  for (const result of results) expect(result).toMatchObject({ exitCode: 0, output: undefined, stderr: '' });
});

test('decides by --on-unavailable without a service', async () => {
  const { ACTLOG_BASE_URL: _url, ...environment } = newEnvironment();
  const closed = await runHook(['claude-code', ...failClosed], before(newCall()), environment);
  const open = await runHook(['claude-code', ...failOpen], before(newCall()), environment);
  expect(closed.output).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(open).toMatchObject({ exitCode: 0, output: undefined });
});

test('names an invalid key without showing it', async () => {
  const environment = { ...newEnvironment(), ACTLOG_API_KEY: 'sk-very-secret' };
  const { exitCode, stderr } = await runHook(['claude-code', ...failClosed], before(newCall()), environment);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/ACTLOG_API_KEY is not an actlog key/);
  expect(stderr).not.toContain('very-secret');
});

test('blocks the call if the mode in the environment is misspelled, unless the guard is fail-open', async () => {
  const environment = { ...newEnvironment(), ACTLOG_GUARD: 'ENFORCE' };
  const closed = await runHook(['claude-code'], before(newCall()), environment);
  const open = await runHook(['claude-code', '--on-unavailable', 'allow'], before(newCall()), environment);
  expect([closed.exitCode, open.exitCode]).toEqual([2, 1]);
  expect(closed.stderr).toContain('ACTLOG_GUARD must be one of off, observe, enforce, got "ENFORCE".');
});

test('reads variables that the environment does not have from a file', async () => {
  const { ACTLOG_BASE_URL, ACTLOG_API_KEY, ...environment } = newEnvironment();
  const file = join(String(environment.HOME), 'actlog.env');
  writeFileSync(
    file,
    `ACTLOG_BASE_URL=${ACTLOG_BASE_URL}\nACTLOG_API_KEY="${ACTLOG_API_KEY}"\nPATH=/nowhere\n`,
  );
  const call = newCall();
  await runHook(['claude-code', '--variables', file, '--agent-id', 'laptop'], succeeded(call), environment);
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['laptop Bash 200']);
});

test.each(['claude-code', 'codex'] as const)(
  'applies the policies and the revocation of the agent to its subagents: %s',
  async (agent) => {
    const events = agentEvents.find((one) => one.agent === agent);
    const agentId = `parent-${agent}`;
    const environment = newEnvironment();
    const args = [agent, ...failClosed, '--agent-id', agentId];
    const call = newCall();
    const ofSubagent = { ...events?.before(call), agent_id: 'sub-1', agent_type: 'trusted-helper' };
    const archive = await service.policy({ name: 'no', effect: 'deny', match: { agents: [agentId] } });
    const denied = await runHook(args, ofSubagent, environment);
    await archive();
    await service.client.agents.update(agentId, { status: 'revoked' });
    const other = newCall({ sessionId: call.sessionId });
    const revoked = await runHook(
      args,
      { ...events?.before(other), agent_id: 'sub-1', agent_type: 'trusted-helper' },
      environment,
    );
    // The revocation also stops other agents of the key.
    await service.client.agents.update(agentId, { status: 'active' });
    for (const { output } of [denied, revoked]) {
      expect(output).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    }
    await expect
      .poll(() => service.calls(call.sessionId))
      .toEqual([`${agentId} Bash 403`, `${agentId} Bash 403`]);
  },
);

test.each(['claude-code', 'codex'] as const)(
  'names the subagent of a call beside the agent, for policies and readers: %s',
  async (agent) => {
    const events = agentEvents.find((one) => one.agent === agent);
    const environment = newEnvironment();
    const args = [agent, ...failClosed, '--agent-id', 'laptop'];
    const archive = await service.policy({
      name: 'no reviews',
      effect: 'deny',
      condition: 'subagent == "code-reviewer" && agent.id == "laptop"',
    });
    const call = newCall();
    // The main thread of a session that was started as an agent has a type, too.
    const main = { ...events?.before(call), agent_type: 'code-reviewer' };
    const passed = await runHook(args, main, environment);
    const subagent = { agent_id: 'sub-1', agent_type: 'code-reviewer' };
    const inner = newCall({ sessionId: call.sessionId });
    const denied = await runHook(args, { ...events?.before(inner), ...subagent }, environment);
    await archive();
    expect(passed.output).toBeUndefined();
    expect(denied.output).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    await runHook(args, { ...events?.succeeded(call), agent_type: 'code-reviewer' }, environment);
    const facts = async () => {
      const stored = await service.client.sessions.events(call.sessionId).toArray({ limit: 100 });
      return stored.flatMap(({ category, payload }) => (category === 'subagent_call' ? [payload] : []));
    };
    await expect
      .poll(facts)
      .toEqual([{ eventId: expect.any(String), toolName: 'Bash', subagent: 'code-reviewer' }]);
  },
);

test('denies a call whose event has a member twice, also when the guard is fail-open', async () => {
  const call = newCall();
  const text = JSON.stringify(before(call)).replace('"command":', '"command":"ls","command":');
  const { exitCode, output } = await runHook(['claude-code', ...failOpen], text, newEnvironment());
  expect(exitCode).toBe(0);
  expect(output).toMatchObject({
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('has the member "command" twice'),
    },
  });
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['claude-code Bash 403']);
});

test('records the trace that the agent gives its hooks, with the check and the event', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const archive = await service.policy({ name: 'hold', effect: 'require_approval' });
  const environment = { ...newEnvironment(), TRACEPARENT: traceparent };
  const call = newCall();
  const args = ['claude-code', ...failClosed];
  const running = runHook(args, before(call), environment);
  await service.decide(call.sessionId, 'approve');
  await running;
  await archive();
  const bad = newCall({ sessionId: call.sessionId });
  const [approved] = await service.client.guardian.pendingActions
    .list({ sessionId: call.sessionId, status: 'approved' })
    .toArray({ limit: 1 });
  expect(approved).toMatchObject({ traceparent });
  // The process that reports the end need not know it.
  await runHook(args, succeeded(call), { ...environment, TRACEPARENT: '' });
  await runHook(args, succeeded(bad), { ...environment, TRACEPARENT: 'not one' });
  const traces = async () => {
    const events = await service.events(call.sessionId);
    return events.flatMap((event) => (event.category === 'tool_api' ? [event.traceparent ?? null] : []));
  };
  await expect.poll(traces).toEqual([traceparent, null]);
});

test('hashes and shows a number by its own digits', async () => {
  const archive = await service.policy({
    name: 'hold',
    effect: 'require_approval',
    match: { tools: ['Bash'] },
  });
  const sessionId = newCall().sessionId;
  const hashes = new Set<unknown>();
  for (const digits of ['1917043659912705297', '1917043659912705298']) {
    const text = JSON.stringify(before(newCall({ sessionId }))).replace('"npm test"', digits);
    const args = ['claude-code', ...failClosed, '--hold-timeout', '0', '--show-arguments'];
    await runHook(args, text, newEnvironment());
  }
  for (const { action } of await service.client.guardian.pendingActions
    .list({ sessionId })
    .toArray({ limit: 3 }))
    hashes.add(action?.argumentsHash);
  await archive();
  expect(hashes.size).toBe(2);
});

test('tells Cursor that a call may run when the hook fails and the guard is fail-open', async () => {
  const result = await runHook(['cursor', ...failOpen], '[]', newEnvironment());
  expect(result).toMatchObject({ exitCode: 1, output: { permission: 'allow' } });
});

test('rejects an empty path of shown arguments', async () => {
  const { exitCode, stderr } = await runHook(
    ['claude-code', '--show-arguments='],
    before(newCall()),
    newEnvironment(),
  );
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--show-arguments: The paths of shown arguments must be names');
});

test('records an event of several megabytes', async () => {
  const call = newCall();
  const event = { ...succeeded(call), tool_response: { stdout: 'x'.repeat(5_000_000) } };
  await runHook(['claude-code'], event, newEnvironment());
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['claude-code Bash 200']);
});

test('records calls of agents that start the hooks of Claude Code without ids of calls', async () => {
  const environment = newEnvironment();
  const call = newCall();
  for (const event of [before(call), succeeded(call)]) {
    await runHook(['claude-code', ...failClosed], { ...event, tool_use_id: undefined }, environment);
  }
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['claude-code Bash 200']);
});

test('records a denied call of Cursor once, which it reports as failed too', async () => {
  const cursor = agentEvents.find(({ agent }) => agent === 'cursor');
  const archive = await service.policy({ name: 'no', effect: 'deny', match: { frameworks: ['cursor'] } });
  const environment = newEnvironment();
  const call = newCall();
  await runHook(['cursor', ...failClosed], cursor?.before(call), environment);
  await archive();
  const failure = { ...cursor?.failed?.(call), failure_type: 'permission_denied' };
  await runHook(['cursor'], failure, environment);
  await runHook(['cursor'], cursor?.sessionEnd?.(call.sessionId), environment);
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['cursor Shell 403']);
});

test('records a call whose hold the agent ends as ended without a result', async () => {
  const archive = await service.policy({
    name: 'hold',
    effect: 'require_approval',
    match: { tools: ['Bash'] },
  });
  const environment = newEnvironment();
  const call = newCall();
  const { child, result } = startHook(['claude-code', ...failClosed], before(call), environment);
  const pending = service.client.guardian.pendingActions;
  await expect.poll(() => pending.list({ sessionId: call.sessionId }).toArray({ limit: 2 })).toHaveLength(1);
  child.kill();
  expect(await result).toMatchObject({ signal: 'SIGTERM', output: undefined });
  await archive();
  await runHook(
    ['claude-code'],
    { ...sessionStart(call.sessionId), hook_event_name: 'SessionEnd' },
    environment,
  );
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['claude-code Bash 499']);
});

test('decides within its time limit about a service that does not respond', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const environment = {
    ...newEnvironment(),
    ACTLOG_BASE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  };
  const args = ['claude-code', ...failClosed, '--check-timeout', '0.2'];
  const { output } = await runHook(args, before(newCall()), environment);
  silent.closeAllConnections();
  silent.close();
  expect(output).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

test('leaves no file of a session that has ended', async () => {
  const environment = newEnvironment();
  const call = newCall();
  await runHook(['claude-code', ...failClosed], before(call), environment);
  await runHook(['claude-code'], succeeded(call), environment);
  await runHook(
    ['claude-code'],
    { ...sessionStart(call.sessionId), hook_event_name: 'SessionEnd' },
    environment,
  );
  const [user = ''] = readdirSync(String(environment.ACTLOG_SPOOL_DIR));
  const [tenant = ''] = readdirSync(join(String(environment.ACTLOG_SPOOL_DIR), user));
  const agent = join(String(environment.ACTLOG_SPOOL_DIR), user, tenant, 'hook', 'claude-code');
  expect(existsSync(agent) ? readdirSync(agent) : []).toEqual([]);
});

test('records parallel calls with the same arguments each once, in processes of their own', async () => {
  const environment = newEnvironment();
  const first = newCall();
  const calls = [first, newCall({ sessionId: first.sessionId })];
  const run = (event: object) => startHook(['claude-code'], event, environment).result;
  await Promise.all(calls.map((call) => run(before(call))));
  const results = await Promise.all(calls.map((call) => run(succeeded(call))));
  expect(results).toEqual(calls.map(() => ({ exitCode: 0, signal: null, output: undefined, stderr: '' })));
  await expect
    .poll(() => service.calls(first.sessionId))
    .toEqual(['claude-code Bash 200', 'claude-code Bash 200']);
});

/** Events with which agents ask their users for a permission. */
const prompted = (call: ReturnType<typeof newCall>) => ({
  session_id: call.sessionId,
  transcript_path: null,
  cwd: '/home/user/project',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: call.command },
});

test.each([
  ['claude-code', 'approve', { behavior: 'allow' }],
  ['codex', 'approve', { behavior: 'allow' }],
  ['claude-code', 'deny', { behavior: 'deny', message: expect.stringContaining('a person denied it') }],
  ['codex', 'deny', { behavior: 'deny', message: expect.stringContaining('a person denied it') }],
] as const)(
  'answers a permission prompt of %s with the decision of a person: %s',
  async (agent, decision, answer) => {
    const call = newCall();
    const hook = runHook([agent, '--show-arguments'], prompted(call), newEnvironment());
    await service.decide(call.sessionId, decision);
    const { exitCode, output } = await hook;
    expect(exitCode).toBe(0);
    expect(output).toEqual({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: answer } });
  },
);

test('answers a permission prompt of Claude Code with changed arguments, where a policy permits them', async () => {
  const archive = await service.changeable('Bash');
  const call = newCall();
  const environment = newEnvironment();
  await runHook(['claude-code'], before(call), environment);
  const hook = runHook(['claude-code', '--show-arguments'], prompted(call), environment);
  await service.decide(call.sessionId, 'approve', { command: 'npm run lint' });
  expect((await hook).output).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'allow', updatedInput: { command: 'npm run lint' } } },
  });
  await archive();
});

test.each(['claude-code', 'codex'])(
  'leaves a permission prompt of %s to the user if nobody decides',
  async (agent) => {
    const { exitCode, output } = await runHook(
      [agent, '--hold-timeout', '0'],
      prompted(newCall()),
      newEnvironment(),
    );
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: undefined });
  },
);

test.each(['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'UserPromptSubmit', 'SessionEnd'])(
  'withdraws the held action of a prompt that was answered at the terminal, at %s',
  async (name) => {
    const call = newCall();
    const { sessionId } = call;
    const environment = newEnvironment();
    await runHook(['claude-code'], before(call), environment);
    await runHook(['claude-code', '--hold-timeout', '0'], prompted(call), environment);
    expect(await service.heldStatus(sessionId)).toBe('pending');
    // Another call answers no prompt about this one.
    await runHook(['claude-code'], succeeded({ ...call, id: 'other', command: 'ls' }), environment);
    expect(await service.heldStatus(sessionId)).toBe('pending');
    const toolUse = { tool_name: 'Bash', tool_input: { command: call.command }, tool_use_id: call.id };
    const ended = { ...toolUse, tool_response: 'ok', error: 'failed', tool_calls: [toolUse] };
    const event = { ...sessionStart(sessionId), ...ended, hook_event_name: name };
    await runHook(['claude-code'], event, environment);
    expect(await service.heldStatus(sessionId)).toBe('withdrawn');
  },
);

test('leaves a permission prompt to the user if the service cannot be reached', async () => {
  const environment = { ...newEnvironment(), ACTLOG_BASE_URL: 'http://127.0.0.1:9' };
  const { exitCode, output } = await runHook(
    ['claude-code', '--check-timeout', '0.2', '--hold-timeout', '0'],
    prompted(newCall()),
    environment,
  );
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: undefined });
});

test('sends the token of the caller with a check, and reports a token that cannot be read', async () => {
  const issuer = await startTestIssuer();
  const verifying = await startServer({
    docs: false,
    identityIssuers: [{ issuer: issuer.url, audience, agents: { laptop: '*' } }],
  });
  const admin = new Actlog({ baseURL: verifying.url, apiKey: verifying.apiKey });
  await admin.policies.create({ name: 'Verified only', effect: 'deny', condition: '!agent.verified' });
  const environment = {
    ...newEnvironment(),
    ACTLOG_BASE_URL: verifying.url,
    ACTLOG_API_KEY: String(verifying.agentKey),
  };
  const run = (token: Record<string, string>) =>
    runHook(['claude-code', ...failClosed], before(newCall()), { ...environment, ...token });
  const allowed = await run({ ACTLOG_IDENTITY_TOKEN: await issuer.token({ sub: 'laptop' }) });
  expect(JSON.stringify(allowed)).not.toContain('Verified only');
  const unread = await run({ ACTLOG_IDENTITY_TOKEN_FILE: '/nowhere/token' });
  expect(JSON.stringify(unread.output)).toContain('Verified only');
  expect(unread.stderr).toContain('could not be read (ENOENT)');
  await delivered();
  await verifying.close();
  await issuer.close();
});
