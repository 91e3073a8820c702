import { afterAll, describe, expect, test } from 'vitest';
import { claudeRuns, runClaude, subagentPrompt } from './claude-run.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(() => service.close());

const newEnvironment = () => service.environment(service.newFolder());
const shell = (command: string) => ({ name: 'Bash', input: { command, description: 'A command.' } });
const enforce = { guard: 'enforce', onUnavailable: 'deny' } as const;

const isTried = await claudeRuns(newEnvironment());
if (!isTried) test.skip('NOT TRIED: Claude Code does not run on this machine', () => {});

describe.runIf(isTried)('with the real Claude Code and a settings file', () => {
  test('records each call once with the status of its outcome', async () => {
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: [
        [shell('printf hi'), shell('exit 3'), { name: 'Bash', input: {} }, { name: 'nowhere', input: {} }],
      ],
      options: { allowedTools: ['Bash'] },
    });
    expect(results).toContainEqual({ text: 'hi', isError: false });
    await service.expectCalls(sessionId, [
      'claude-code Bash 200',
      'claude-code Bash 500',
      'claude-code Bash 400',
      'claude-code nowhere 404',
    ]);
  });

  test('denies a call with the message of the policy', async () => {
    const archive = await service.policy({
      name: 'no',
      effect: 'deny',
      match: { tools: ['Bash'] },
      message: 'No shell.',
    });
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: enforce,
      options: { allowedTools: ['Bash'] },
    });
    await archive();
    expect(results).toEqual([
      {
        text: expect.stringMatching(
          /The call of the tool "Bash" was not run: .*No shell\..*tell the user\.$/,
        ),
        isError: true,
      },
    ]);
    await service.expectCalls(sessionId, ['claude-code Bash 403']);
  });

  test('runs a call with the command that an approver changed', async () => {
    const archive = await service.changeable('Bash');
    let decided: Promise<void> | undefined;
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: { ...enforce, showArguments: 'command' },
      options: { allowedTools: ['Bash'] },
      onSession: (id) => {
        decided = service.decide(id, 'approve', { command: 'printf changed' });
      },
    });
    await decided;
    await archive();
    expect(results).toEqual([{ text: expect.stringContaining('changed'), isError: false }]);
    await service.expectCalls(sessionId, ['claude-code Bash 200']);
    await service.expectChangedCall(sessionId);
  });

  test('leaves a changed call to the permissions of Claude Code', async () => {
    const archive = await service.changeable('Bash');
    let decided: Promise<void> | undefined;
    const { results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: { ...enforce, showArguments: 'command' },
      options: { disallowedTools: [], permissionMode: 'dontAsk' as never },
      onSession: (id) => {
        decided = service.decide(id, 'approve', { command: 'touch changed' });
      },
    });
    await decided;
    await archive();
    expect(results).toEqual([{ text: expect.any(String), isError: true }]);
  });

  test.each([
    ['approve', { text: 'hi', isError: false }],
    ['deny', { text: expect.stringContaining('a person denied it'), isError: true }],
  ] as const)('answers its permission prompt with the decision of a person: %s', async (decision, result) => {
    let decided: Promise<void> | undefined;
    const { results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi > made.txt && cat made.txt')]],
      hook: { holdPrompts: true, showArguments: 'command' },
      options: { canUseTool: () => new Promise(() => {}) },
      onSession: (id) => {
        decided = service.decide(id, decision);
      },
    });
    await decided;
    expect(results).toEqual([result]);
  });

  test('runs a held call once a person approves it', async () => {
    const archive = await service.policy({
      name: 'hold',
      effect: 'require_approval',
      match: { tools: ['Bash'] },
    });
    let decided: Promise<void> | undefined;
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: enforce,
      options: { allowedTools: ['Bash'] },
      onSession: (id) => {
        decided = service.decide(id, 'approve');
      },
    });
    await decided;
    await archive();
    expect(results).toEqual([{ text: 'hi', isError: false }]);
    await service.expectCalls(sessionId, ['claude-code Bash 200']);
  });

  test("leaves allowed calls to the user's own permissions, and records what they deny", async () => {
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi'), shell('printf ho')]],
      hook: enforce,
      settings: { permissions: { allow: ['Bash(printf hi)'], deny: ['Bash(printf ho)'] } },
    });
    expect(results.filter(({ isError }) => !isError)).toEqual([{ text: 'hi', isError: false }]);
    await service.expectCalls(sessionId, ['claude-code Bash 200', 'claude-code Bash 403']);
  });

  test('records calls of a subagent in the session and under the name of the agent', async () => {
    const input = { description: 'Look', prompt: `${subagentPrompt} look.`, subagent_type: 'explorer' };
    const { sessionId } = await runClaude({
      environment: newEnvironment(),
      turns: [[{ name: 'Agent', input }]],
      subagentTurns: [[shell('printf deep')]],
      options: {
        allowedTools: ['Bash', 'Agent', 'Task'],
        agents: { explorer: { description: 'Explores.', prompt: 'Explore.', background: false } },
      },
    });
    await service.expectCalls(sessionId, ['claude-code Agent 200', 'claude-code Bash 200']);
  });

  test('blocks calls when the hook itself cannot run and the guard is fail-closed', async () => {
    const { results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: { ...enforce, script: '/nowhere/actlog/dist/bin.js' },
      options: { allowedTools: ['Bash'] },
    });
    expect(results.map(({ isError }) => isError)).toEqual([true]);
  });

  test('lets calls run when the hook itself cannot run and the guard is fail-open', async () => {
    const { results } = await runClaude({
      environment: newEnvironment(),
      turns: [[shell('printf hi')]],
      hook: { guard: 'enforce', onUnavailable: 'allow', script: '/nowhere/actlog/dist/bin.js' },
      options: { allowedTools: ['Bash'] },
    });
    expect(results).toEqual([{ text: 'hi', isError: false }]);
  });

  test('ends the run of a model that repeats a denied call', async () => {
    const archive = await service.policy({ name: 'no', effect: 'deny', match: { tools: ['Bash'] } });
    const { sessionId, results } = await runClaude({
      environment: newEnvironment(),
      turns: Array.from({ length: 20 }, () => [shell('printf hi')]),
      hook: enforce,
      options: { allowedTools: ['Bash'] },
    });
    await archive();
    expect(results.length).toBeLessThan(6);
    await service.expectCalls(sessionId, Array(5).fill('claude-code Bash 403'));
  });
});
