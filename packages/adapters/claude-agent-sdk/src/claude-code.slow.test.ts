import { randomUUID } from 'node:crypto';
import { Service } from '@actlog/adapter-suite';
import type { Options, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { claudeRuns, runClaude } from '../tests/claude.ts';
import { subagentPrompt } from '../tests/messages-endpoint.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** Creates a server in this process with one tool. */
function echoServer() {
  const echo = tool('echo', 'Says it again.', { text: z.string() }, async ({ text }) => ({
    content: [{ type: 'text', text: `echo: ${text}` }],
  }));
  return { own: createSdkMcpServer({ name: 'own', tools: [echo] }) };
}

const echo = (text: string) => ({ name: 'mcp__own__echo', input: { text } });
const shell = (command: string) => ({ name: 'Bash', input: { command, description: 'A command.' } });

/** Returns the recorded events of a session, in the order in which the calls ended. */
async function recorded(session: string) {
  const events = await service.events(session);
  return events.map(({ agentId, toolName, status }) => `${agentId} ${toolName} ${status}`);
}

const isTried = await claudeRuns();

describe.runIf(isTried)('with the real Claude Code', () => {
  test("uses Claude Code's names for the session and the tools", async () => {
    const sessionId = randomUUID();
    const recorder = service.recorder();
    const options: Options = { sessionId, mcpServers: echoServer(), allowedTools: ['mcp__own', 'Bash'] };
    const { toolResults } = await runClaude({
      turns: [[echo('a'), shell('printf hi'), shell('exit 3'), { name: 'Bash', input: {} }]],
      options: actlog(options, { recorder }),
    });
    expect(toolResults.slice(0, 2)).toEqual([
      { text: 'echo: a', isError: false },
      { text: 'hi', isError: false },
    ]);
    expect(await recorded(sessionId)).toEqual([
      'tester mcp__own__echo 200',
      'tester Bash 200',
      'tester Bash 500',
      'tester Bash 400',
    ]);
  });

  test("passes the denial's message after Claude Code's own prefix", async () => {
    const { id } = await service.client.policies.create({
      name: 'no',
      effect: 'deny',
      match: { tools: ['Bash'] },
      message: 'No shell.',
    });
    const sessionId = randomUUID();
    const { toolResults } = await runClaude({
      turns: [[shell('printf hi')]],
      options: actlog({ sessionId, allowedTools: ['Bash'] }, { recorder: service.guarded() }),
    });
    expect(toolResults).toEqual([
      {
        text: expect.stringMatching(
          /^PreToolUse:Bash hook error: The call of the tool "Bash" was not run: .*No shell\..*tell the user\.$/,
        ),
        isError: true,
      },
    ]);
    expect(await recorded(sessionId)).toEqual(['tester Bash 403']);
    await service.client.policies.archive(id);
  });

  test("leaves allowed calls to the user's permissions and hooks", async () => {
    const sessionId = randomUUID();
    const options: Options = {
      sessionId,
      mcpServers: echoServer(),
      canUseTool: async (_name, input) =>
        input.text === 'no'
          ? { behavior: 'deny', message: 'Not you.' }
          : { behavior: 'allow', updatedInput: input },
      hooks: {
        PreToolUse: [
          {
            matcher: 'Bash',
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: 'PreToolUse',
                  permissionDecision: 'deny',
                  permissionDecisionReason: 'No shell here.',
                },
              }),
            ],
          },
        ],
      },
    };
    const { toolResults } = await runClaude({
      turns: [[echo('no'), echo('yes'), shell('printf hi')]],
      options: actlog(options, { recorder: service.guarded() }),
    });
    expect(toolResults.map(({ text }) => text)).toEqual([
      'Not you.',
      'echo: yes',
      'PreToolUse:Bash hook error: No shell here.',
    ]);
    expect((await recorded(sessionId)).sort()).toEqual([
      'tester Bash 403',
      'tester mcp__own__echo 200',
      'tester mcp__own__echo 403',
    ]);
  });

  test('records calls of a subagent in the session and under the name of the agent', async () => {
    const sessionId = randomUUID();
    const input = { description: 'Look', prompt: `${subagentPrompt} look.`, subagent_type: 'explorer' };
    const options: Options = {
      sessionId,
      mcpServers: echoServer(),
      allowedTools: ['mcp__own', 'Agent', 'Task'],
      agents: { explorer: { description: 'Explores.', prompt: 'Explore.', background: false } },
    };
    await runClaude({
      turns: [[{ name: 'Agent', input }]],
      subagentTurns: [[echo('deep'), { name: 'nowhere', input: {} }]],
      options: actlog(options, { recorder: service.recorder() }),
    });
    expect((await recorded(sessionId)).sort()).toEqual([
      'tester Agent 200',
      'tester mcp__own__echo 200',
      'tester nowhere 404',
    ]);
  });

  test('keeps calls of concurrent subagents with equal ids apart', async () => {
    const { id } = await service.client.policies.create({
      name: 'no',
      effect: 'deny',
      match: { tools: ['Bash'] },
    });
    const sessionId = randomUUID();
    const agent = (n: number) => ({
      name: 'Agent',
      input: { description: `Look ${n}`, prompt: `${subagentPrompt} look ${n}.`, subagent_type: 'explorer' },
    });
    const options: Options = {
      sessionId,
      mcpServers: echoServer(),
      allowedTools: ['mcp__own', 'Agent', 'Bash'],
      agents: { explorer: { description: 'Explores.', prompt: 'Explore.' } },
    };
    await runClaude({
      turns: [[agent(1), agent(2)]],
      subagentTurns: [[echo('deep'), shell('printf hi')], [echo('deeper')]],
      options: actlog(options, { recorder: service.guarded() }),
    });
    expect((await recorded(sessionId)).sort()).toEqual([
      'tester Agent 200',
      'tester Agent 200',
      'tester Bash 403',
      'tester Bash 403',
      ...Array(4).fill('tester mcp__own__echo 200'),
    ]);
    await service.client.policies.archive(id);
  });

  test('records an interrupted tool at the next prompt', async () => {
    const sessionId = randomUUID();
    const started = Promise.withResolvers<void>();
    const interrupted = Promise.withResolvers<unknown>();
    const wait = tool('wait', 'Waits.', {}, () => {
      started.resolve();
      return new Promise(() => {});
    });
    async function* prompts(): AsyncGenerator<SDKUserMessage> {
      const say = (content: string): SDKUserMessage => ({
        type: 'user',
        message: { role: 'user', content },
        parent_tool_use_id: null,
      });
      yield say('go');
      await interrupted.promise;
      yield say('go on');
    }
    const options: Options = {
      sessionId,
      mcpServers: { own: createSdkMcpServer({ name: 'own', tools: [wait] }) },
      allowedTools: ['mcp__own'],
    };
    await runClaude({
      turns: [[{ name: 'mcp__own__wait', input: {} }]],
      prompt: prompts(),
      options: actlog(options, { recorder: service.recorder() }),
      onStart: (running) => started.promise.then(() => running.interrupt()).then(interrupted.resolve),
    });
    expect(await recorded(sessionId)).toEqual(['tester mcp__own__wait 499']);
  });
});

test.skipIf(isTried)('NOT TRIED: Claude Code does not run on this machine', () => {});
