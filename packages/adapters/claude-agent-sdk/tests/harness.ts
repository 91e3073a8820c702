import type { AdapterHarness, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { createSdkMcpServer, type Options, tool } from '@anthropic-ai/claude-agent-sdk';
import * as z from 'zod';
import { version } from '../src/actlog.ts';
import { actlog } from '../src/index.ts';
import { runClaude } from './claude.ts';

function sdkTool({ name, run }: SuiteTool) {
  const handler = async (args: { text: string }, extra: unknown) => {
    const { signal } = extra as { readonly signal?: AbortSignal };
    return { content: [{ type: 'text' as const, text: await run(args, signal) }] };
  };
  return tool(name, `The tool ${name}.`, { text: z.string() }, handler, { alwaysLoad: true });
}

function optionsOf({ tools, signal, ownHook, systemText }: Scenario): Options {
  const abortController = new AbortController();
  signal?.addEventListener('abort', () => abortController.abort(signal.reason));
  return {
    tools: [],
    allowedTools: ['mcp__suite'],
    mcpServers: { suite: createSdkMcpServer({ name: 'suite', tools: tools.map(sdkTool) }) },
    // Keep the tool names of the suite; by default they would be `mcp__suite__echo` and so on.
    env: { CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1' },
    abortController,
    ...(systemText !== undefined && { systemPrompt: systemText }),
    ...(ownHook && {
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name === 'PreToolUse') ownHook(input.tool_name);
                return {};
              },
            ],
          },
        ],
      },
    }),
  };
}

/** The real Claude Code of the package, with tools in this process. */
export const claudeHarness: AdapterHarness = {
  framework: 'claude-agent-sdk',
  sdk: `@actlog/claude-agent-sdk/${version}`,
  hook: '`options: actlog({...})`',
  abilities: {
    ...fullAbilities,
    thrown: 500,
    knowsReached: false,
    origins: { user: true, system: true, results: true },
  },
  run(scenario) {
    const { turns, sessionId, adapter, isInstalledTwice, isStreamed = false, userText } = scenario;
    // Claude Code only accepts UUIDs as sessions, which those of the suite are not.
    const settings = adapter && { sessionId, ...adapter };
    const own = { ...optionsOf(scenario), includePartialMessages: isStreamed };
    const once = settings ? actlog(own, settings) : own;
    return runClaude({
      ...(userText !== undefined && { prompt: userText }),
      turns: turns.map((turn) => turn.map(({ toolName, arguments: input }) => ({ name: toolName, input }))),
      options: settings && isInstalledTwice ? actlog(once, settings) : once,
    });
  },
};
