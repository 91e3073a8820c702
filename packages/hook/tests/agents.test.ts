import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentName, agents } from '../src/index.ts';
import { agentEvents, newCall } from './agent-events.ts';
import { delivered, runHook } from './hook-process.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(async () => {
  await delivered();
  await service.close();
});

const enforce = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** Output that denies a call with a reason that the model reads, in the format of each agent. */
const denials: Readonly<Record<AgentName, (reason: unknown) => object>> = {
  'claude-code': (permissionDecisionReason) => claudeDecision('deny', permissionDecisionReason),
  codex: (permissionDecisionReason) => claudeDecision('deny', permissionDecisionReason),
  'gemini-cli': (reason) => ({ decision: 'deny', reason }),
  cursor: (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  copilot: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
};

/** Output that asks the user, for agents that have such a decision. */
const questions: Readonly<Partial<Record<AgentName, (reason: unknown) => object>>> = {
  'claude-code': (permissionDecisionReason) => claudeDecision('ask', permissionDecisionReason),
  copilot: (permissionDecisionReason) => ({ permissionDecision: 'ask', permissionDecisionReason }),
};

/** Output that lets a call run, and that for other events, for agents that expect one. */
const passes: Readonly<Partial<Record<AgentName, { readonly before: object; readonly other: object }>>> = {
  cursor: { before: { permission: 'allow' }, other: { continue: true } },
};

/** Output that runs a call with another command, in the format of each agent. */
const changes: Readonly<Record<AgentName, (args: object, notice: unknown) => object>> = {
  'claude-code': (updatedInput, additionalContext) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput, additionalContext },
  }),
  codex: (updatedInput, additionalContext) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput,
      additionalContext,
    },
  }),
  'gemini-cli': (args) => ({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: args } }),
  cursor: (args) => ({ permission: 'allow', updated_input: args }),
  copilot: (modifiedArgs, additionalContext) => ({ modifiedArgs, additionalContext }),
};

function claudeDecision(permissionDecision: string, permissionDecisionReason: unknown) {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

test('events of all agents are scripted', () => {
  expect(agentEvents.map(({ agent }) => agent).sort()).toEqual(Object.keys(agents).sort());
});

describe.each(agentEvents)('$agent', (events) => {
  const { agent, toolName } = events;
  // A folder of its own for each test: a delivery waits a second for more before it looks again.
  let environment: Record<string, string>;
  beforeEach(() => {
    environment = service.environment(service.newFolder());
  });
  const run = (kind: Parameters<typeof events.argsFor>[0], event: object | undefined, flags: string[] = []) =>
    runHook([agent, ...events.argsFor(kind), ...flags], event, environment);

  test('leaves a call that is allowed to the permissions of the agent, and records it once', async () => {
    const call = newCall();
    const results = [
      await run('before', events.before(call), enforce),
      await run('succeeded', events.succeeded(call), enforce),
    ];
    expect(results.map(({ exitCode, output }) => ({ exitCode, output }))).toEqual([
      { exitCode: 0, output: passes[agent]?.before },
      { exitCode: 0, output: passes[agent]?.other },
    ]);
    await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 200`]);
  });

  test('denies a call with a reason', async () => {
    const archive = await service.policy({
      name: 'no',
      effect: 'deny',
      match: { tools: [toolName], frameworks: [agent] },
      message: 'No shell.',
    });
    const call = newCall();
    const { exitCode, output } = await run('before', events.before(call), enforce);
    await archive();
    expect(exitCode).toBe(0);
    expect(output).toEqual(
      denials[agent](expect.stringMatching(/was not run: it was denied by .*No shell\./)),
    );
    await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 403`]);
  });

  test('runs a call with the arguments that an approver changed, and records their hash', async () => {
    const archive = await service.changeable(toolName, agent);
    const call = newCall();
    const changed = { ...call, command: 'npm run lint' };
    const before = run('before', events.before(call), [...enforce, '--show-arguments=command']);
    await service.decide(call.sessionId, 'approve', { command: changed.command });
    const { exitCode, output } = await before;
    await archive();
    expect(exitCode).toBe(0);
    const args = expect.objectContaining({ command: changed.command });
    expect(output).toEqual(changes[agent](args, expect.stringContaining('npm run lint')));
    await run('succeeded', events.succeeded(changed), enforce);
    await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 200`]);
    await service.expectChangedCall(call.sessionId);
  });

  test('asks the user or denies when nobody approved in time', async () => {
    const archive = await service.policy({
      name: 'hold',
      effect: 'require_approval',
      match: { tools: [toolName], frameworks: [agent] },
    });
    const call = newCall();
    const flags = [...enforce, '--hold-timeout', '0', '--after-hold', 'ask'];
    const { output } = await run('before', events.before(call), flags);
    await archive();
    const expected = questions[agent] ?? denials[agent];
    expect(output).toEqual(
      expected(
        expect.stringMatching(/policy "hold" \(pol_\w+\).*approval|approval under policy "hold" \(pol_/),
      ),
    );
  });

  const { failed, sessionEnd } = events;
  if (failed) {
    test('records a failed call', async () => {
      const call = newCall();
      await run('before', events.before(call));
      await run('failed', failed(call));
      await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 500`]);
    });
  }

  test('records a call that a new prompt interrupts as ended without a result', async () => {
    const call = newCall();
    await run('before', events.before(call));
    await run('prompt', events.prompt(call.sessionId));
    await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 499`]);
  });

  if (sessionEnd) {
    test('records the open calls of a session that ends', async () => {
      const call = newCall();
      const other = newCall({ sessionId: call.sessionId, command: 'npm start' });
      await run('before', events.before(call));
      await run('before', events.before(other));
      await run('succeeded', events.succeeded(other));
      await run('sessionEnd', sessionEnd(call.sessionId));
      await expect
        .poll(async () => (await service.calls(call.sessionId)).sort())
        .toEqual([`${agent} ${toolName} 200`, `${agent} ${toolName} 499`]);
    });
  }

  test('records parallel calls with the same arguments each once', async () => {
    const first = newCall();
    const calls = [first, newCall({ sessionId: first.sessionId }), newCall({ sessionId: first.sessionId })];
    await Promise.all(calls.map((call) => run('before', events.before(call))));
    await Promise.all(calls.map((call) => run('succeeded', events.succeeded(call))));
    await expect
      .poll(() => service.calls(first.sessionId))
      .toEqual(calls.map(() => `${agent} ${toolName} 200`));
  });

  test('denies or lets through a call while the service is unreachable, as the user chose', async () => {
    const unreachable = { ...environment, ACTLOG_BASE_URL: 'http://127.0.0.1:9' };
    const decide = (onUnavailable: string) =>
      runHook(
        [
          agent,
          ...events.argsFor('before'),
          '--guard',
          'enforce',
          '--on-unavailable',
          onUnavailable,
          '--check-timeout',
          '1',
        ],
        events.before(newCall()),
        unreachable,
      );
    const [denied, allowed] = await Promise.all([decide('deny'), decide('allow')]);
    expect(denied.output).toEqual(denials[agent](expect.stringMatching(/the policy check failed/)));
    expect(allowed).toMatchObject({ exitCode: 0, output: passes[agent]?.before });
  });

  test.each([
    ['UTF-8', (text: string) => Buffer.from(`\uFEFF${text}`)],
    ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ])('denies and records a call whose event begins with a byte order mark: %s', async (_encoding, encode) => {
    const archive = await service.policy({
      name: 'no',
      effect: 'deny',
      match: { tools: [toolName], frameworks: [agent] },
    });
    const call = newCall();
    const event = encode(JSON.stringify(events.before(call)));
    const { output } = await runHook([agent, ...events.argsFor('before'), ...enforce], event, environment);
    await archive();
    expect(output).toEqual(denials[agent](expect.stringMatching(/was not run/)));
    await expect.poll(() => service.calls(call.sessionId)).toEqual([`${agent} ${toolName} 403`]);
  });

  test('reads the settings and variables of a file that begins with a byte order mark', async () => {
    const { ACTLOG_BASE_URL, ACTLOG_API_KEY, ...rest } = environment;
    const call = newCall();
    for (const encoding of ['utf8', 'utf16le'] as const) {
      const file = join(String(rest.HOME), `${encoding}.env`);
      const text = `\uFEFFACTLOG_BASE_URL=${ACTLOG_BASE_URL}\nACTLOG_API_KEY=${ACTLOG_API_KEY}\n`;
      writeFileSync(file, text, encoding);
      const args = [agent, ...events.argsFor('succeeded'), '--variables', file];
      await runHook(args, events.succeeded({ ...call, id: encoding, command: encoding }), rest);
    }
    await expect.poll(() => service.calls(call.sessionId)).toHaveLength(2);
  });

  test('shows the approver the chosen arguments, with their digits', async () => {
    const archive = await service.policy({
      name: 'hold',
      effect: 'require_approval',
      match: { tools: [toolName], frameworks: [agent] },
    });
    const call = newCall({ command: 'rm -rf build' });
    const flags = [...enforce, '--hold-timeout', '0', '--show-arguments=command'];
    await run('before', events.before(call), flags);
    const [held] = await service.client.guardian.pendingActions
      .list({ sessionId: call.sessionId })
      .toArray({ limit: 2 });
    await archive();
    expect(held?.action?.arguments).toEqual({ command: 'rm -rf build' });
  });

  test('sends no part of the arguments', async () => {
    const call = newCall({ command: 'echo very-secret' });
    await run('before', events.before(call), enforce);
    await run('succeeded', events.succeeded(call), enforce);
    await expect.poll(() => service.calls(call.sessionId)).toHaveLength(1);
    expect(JSON.stringify(await service.events(call.sessionId))).not.toContain('very-secret');
  });
});
